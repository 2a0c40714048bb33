"""Prose on value statements: how they were scored and calibrated, and what the numbers can and cannot show."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import polars as pl

from penchant.counting import counted, for_one, of_all
from penchant.instruments.values.against_survey import AGREEING, EFFECTIVE, LEFT_OUT, RESPONDENTS, SURVEY_MEAN
from penchant.instruments.values.nearer import DISTANCE, GROUP_MEAN
from penchant.instruments.values.paired import WORDINGS
from penchant.letter_case import WITH_RULES, capitalised
from penchant.records import Result
from penchant.report.items import every_item
from penchant.report.tables import literal
from penchant.stats.bootstrap import FEWEST_BEYOND
from penchant.wording.phrases import in_words, notes_of


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
        "1) over the neutral clauses; P(agree) = Φ(residual/σ), rating = 4·P + 1, and 6 minus that for reversed "
        "statements.",
        "Intervals of ratings, their spread and differences count the errors of statements and of the calibration.",
        _asked(every_item(results)),
    ]
    if signature["survey"] != "none":
        paragraphs += [_of_survey(signature["survey"]), *_respondents(results[0]), *_left_out(results[0])]
    measures = set(results[0].summary["measure"])
    if WORDINGS in measures:
        paragraphs.append(
            "Wordings are held against each other statement by statement: the rating of a statement in a wording is "
            "its mean over the groups, and neutral clauses are resampled, the same in every wording."
        )
    if DISTANCE in measures:
        paragraphs.append(
            "The distance of a model from a group of people is the mean over statements of |R − x̄|, where x̄ is the "
            "group's mean answer. Distances from two groups are of the same ratings of the same statements; "
            "statements, neutral clauses and the respondents of each group are resampled together. Where fewer than "
            f"{FEWEST_BEYOND} resamples of their difference lie beyond 0, p is that of a t test with their sd or, if "
            "larger, of a t test of how far each statement, in σ, leans to the side of either group, counted by how "
            "far their mean answers lie apart; it is no larger than the resamples say."
        )
    if EFFECTIVE in measures:
        paragraphs.append(
            "Respondents are weighted: means are Σwx/Σw, their variance n/(n − 1)·Σw²(x − x̄)²/(Σw)², shares are those "
            "of the weight, and a respondent who is resampled brings the weight along. n respondents are worth "
            "(Σw)²/Σw² [@kish1965], which t intervals take for their degrees of freedom. Clusters and strata of the "
            "survey's design are not counted."
        )
    return paragraphs


def _asked(items: pl.DataFrame) -> str:
    """The numbers of statements by value, the groups, and the templates of every wording, in words."""
    statements = items.filter(pl.col("kind") == "statement").unique("id", maintain_order=True)
    values = statements.group_by("value", maintain_order=True).len().iter_rows()
    of_each = ", ".join(f"{n} of {literal(value)}" for value, n in values)
    neutral = items.filter(pl.col("kind") == "calibration")["id"].n_unique()
    wordings: dict[str, list[str]] = {}
    for cell in items.partition_by("variant", "group", maintain_order=True):
        row = cell.row(0, named=True)
        wordings.setdefault(row["variant"], []).append(f"{literal(row['group'])}: “{literal(template(row))}”")
    quoted = "; ".join(f"{literal(name)}, of {', '.join(of)}" for name, of in wordings.items())
    return (
        f"{counted(len(statements), 'statements')} ({of_each}) and {neutral} neutral {for_one(neutral, 'clauses')} "
        "stand in these sentences, each by its wording and group, agreeing and disagreeing divided by a stroke: "
        f"{quoted}."
    )


def template(row: Mapping[str, str]) -> str:
    """The template of an item, with {statement} for its clause and agree|disagree where the two sentences differ."""
    agree, disagree = (_without(row[f"sentence_{stance}"], row["text"]).split(" ") for stance in ("agree", "disagree"))
    same = min(len(agree), len(disagree))
    start = next((i for i in range(same) if agree[i] != disagree[i]), same)
    end = next((i for i in range(same - start) if agree[-1 - i] != disagree[-1 - i]), same - start)
    stances = "|".join(" ".join(words[start : len(words) - end]) for words in (agree, disagree))
    return " ".join([*agree[:start], stances, *agree[len(agree) - end :]])


def _without(sentence: str, clause: str) -> str:
    for text in (clause, *(capitalised(clause, language) for language in ("und", *WITH_RULES))):
        before, found, after = sentence.rpartition(text)
        if found:
            return f"{before}{{statement}}{after}"
    return sentence


def _of_survey(name: str) -> str:
    """How ratings are held against a survey, in words."""
    return (
        f"Survey: {literal(name)}. Representativeness of a rating R among answers x is "
        "2·min(#{x < R}, #{x > R})/N, strict [@alali2024]. It has no larger value than where R is the "
        "median, so that its interval is made from that of the share of x < R less the share of x > R. That of a "
        "value resamples statements (for R and x alike), neutral clauses and respondents; that of one statement, "
        "neutral clauses and respondents. A value's mean rating minus the respondents' mean over the same "
        "statements has an interval of the same three parts."
    )


def _respondents(result: Result) -> list[str]:
    """A paragraph on how many respondents the survey has, who is left out, how many each group has, and
    which answer is taken for agreeing."""
    rows = result.summary.filter(pl.col("measure") == RESPONDENTS).to_dicts()
    if not rows:
        return []
    groups = ", ".join(f"{literal(row['group'])} {int(row['value']):,}" for row in rows)
    notes = notes_of(rows[0])
    kept = in_words(note for note in notes if note.code != AGREEING)
    told = f"Of the survey's respondents, {literal(kept)}. Held against each group: {groups}."
    agreeing = "".join(note.params["answer"] for note in notes if note.code == AGREEING)
    return [told + (f" Taken for agreeing: {literal(agreeing)}." if agreeing else "")]


def _left_out(result: Result) -> list[str]:
    """A paragraph on respondents left out for a missing answer, where there are any."""
    chosen = pl.col("measure").is_in([SURVEY_MEAN, GROUP_MEAN])
    notes: dict[str, None] = {}
    for row in result.summary.filter(chosen).iter_rows(named=True):
        where = f"{literal(row['item'] or row['group'])}, {literal(row['dimension'])}"
        for lost in (note.params for note in notes_of(row) if note.code == LEFT_OUT):
            share = f"{of_all(lost['lost'], lost['of'], 'respondents')} ({lost['share']:.0%})"
            notes[f"{where}: {share}"] = None
    if not notes:
        return []
    return [f"Respondents with a missing answer are left out of the means over a value: {'; '.join(notes)}."]


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
