"""Prose on value statements: how they were scored and calibrated, and what the numbers can and cannot show."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from penchant.instruments.values.against_survey import EFFECTIVE
from penchant.instruments.values.nearer import DISTANCE
from penchant.instruments.values.paired import WORDINGS
from penchant.records import Result
from penchant.report.tables import literal


def methods(results: Sequence[Result]) -> list[str]:
    """What was measured and how, with citations."""
    signature = results[0].signature
    scored = {
        "span": "the log-probability of the stance, all its tokens masked at once and summed",
        "lp": "the log-probability of the whole sentence, token after token",
    }
    fitted = {
        "origin": "y = a·x, through the origin",
        "difference": "y = x + b, of slope 1, because whole sentences differ mostly by their length",
    }
    ways = dict.fromkeys((r.signature["method"], r.signature["calibration"]) for r in results)
    how = "; or ".join(f"{scored[method]} (`{method}`), and {fitted[line]}" for method, line in ways)
    paragraphs = [
        "Every clause stands in sentences of each group who agree and who disagree with it [@alali2024]. x, of "
        f"disagreeing, and y, of agreeing, are scored and calibrated on neutral clauses: {how}. σ² = Σ residual²/(n − "
        "1) over the neutral clauses; P(agree) = Φ((y − a·x − b)/σ), rating = 4·P + 1, and 6 minus that for reversed "
        "statements.",
        "Intervals of ratings, their spread and differences resample statements and neutral clauses together.",
    ]
    if signature["survey"] != "none":
        paragraphs.append(
            f"Survey: {literal(signature['survey'])}. Representativeness of a rating R among answers x is "
            "2·min(#{x < R}, #{x > R})/N, strict [@alali2024]. It has no larger value than where R is the "
            "median, so that its interval is made from that of the share of x < R less the share of x > R. That of a "
            "value resamples statements (for R and x alike), neutral clauses and respondents; that of one statement, "
            "neutral clauses and respondents. A value's mean rating minus the respondents' mean over the same "
            "statements has an interval of the same three parts."
        )
    measures = set(results[0].summary["measure"])
    if WORDINGS in measures:
        paragraphs.append(
            "Wordings are held against each other statement by statement: the rating of a statement in a wording is "
            "its mean over the groups, and statements and neutral clauses are resampled, the same in every wording."
        )
    if DISTANCE in measures:
        paragraphs.append(
            "The distance of a model from a group of people is the mean over statements of |R − x̄|, where x̄ is the "
            "group's mean answer. Distances from two groups are of the same ratings of the same statements; "
            "statements, neutral clauses and the respondents of each group are resampled together."
        )
    if EFFECTIVE in measures:
        paragraphs.append(
            "Respondents are weighted: means are Σwx/Σw, their variance n/(n − 1)·Σw²(x − x̄)²/(Σw)², shares are those "
            "of the weight, and a respondent who is resampled brings the weight along. n respondents are worth "
            "(Σw)²/Σw² [@kish1965], which t intervals take for their degrees of freedom. Clusters and strata of the "
            "survey's design are not counted."
        )
    return paragraphs


def limits(results: Iterable[Result]) -> list[str]:
    """What the numbers can and cannot show."""
    causal = any(result.signature["method"] == "lp" for result in results)
    paragraphs = [
        "A rating says how much more probable a model finds it that somebody agrees with a statement than the "
        "neutral statements lead one to expect. It is about sentences, not about beliefs: a model that answers to "
        "the topic, to a frequent phrase or to the length of a clause has ratings too.",
        "Trust a difference only if it outlives the checks: negated statements rated as the mirror image, the same "
        "picture in every wording, a spread within a value smaller than by chance. A rating near 3 can mean balance "
        "or indifference; the spread tells which.",
        "Setting ratings beside a survey compares where numbers lie, not how people and models came to them. "
        "Representativeness near 1 is not agreement with anybody; it says the rating is near the median.",
    ]
    if causal:
        paragraphs.append(
            "For a causal model the score is of the whole sentence. What the stance word itself costs is the same for "
            "all clauses of a wording and falls out in the calibration; what is left is how the clause follows after "
            "“agrees” rather than after “disagrees”."
        )
    return paragraphs
