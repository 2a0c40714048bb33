"""The settings of association tests: WEAT, SEAT, CEAT and the log-probability bias score."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, ClassVar, Literal, Self, TypeVar

from pydantic import AfterValidator, Field, model_validator

from penchant.corpus.occurrence_columns import segments
from penchant.corpus.occurrences import Bound
from penchant.corpus.stimuli_from_python import WORD, file_of_set, word_rows
from penchant.errors import MethodError
from penchant.instruments.probe_field_types import CITED, Columns, Data, File, Given, TableField, Written, default_of
from penchant.instruments.settings import Settings
from penchant.limits import COUNT, LAYERS, PARTITIONS, RESAMPLES
from penchant.records import BaseResult
from penchant.tables.yaml_json_documents import distinct

T = TypeVar("T")
Share = Annotated[float, Field(ge=0, lt=1)]
Several = Annotated[Given[tuple[T, ...], T | Iterable[T]], Field(min_length=1, strict=False), AfterValidator(distinct)]
"""One or more values, without repetition."""
Layers = Several[Annotated[int, Field(ge=-LAYERS, le=LAYERS)]]


class AssociationSettings(Settings):
    """The parameters shared by all association tests."""

    limited: ClassVar[str] = "words of each list"

    data: Annotated[Given[str | list[str], Data], CITED, TableField(WORD, word_rows, ".csv", file_of_set)] = Field(
        kw_only=False
    )
    """A set of stimuli: a bundled set's name, a directory with set.yaml, SEAT's or CEAT's JSONL files, or a table."""
    columns: Given[dict[Literal["category", "set", "word", "label"], str], Columns] = default_of(default={})
    """Column names that differ from the fields category, set, word and label, as field: column."""
    categories: Annotated[Given[list[str] | None, Iterable[str] | None], Written(none="all")] = default_of(default=None)
    """Names of the categories to test. Default: all that are meant for this instrument."""
    language: str | None = None
    """BCP 47 tag of the stimuli, such as tr, which decides upper and lower case. Default: that of the set."""
    compat: str | None = None
    """Name of another tool whose conventions replace the defaults of parameters that are not set. Default: none.

    See `penchant list compat`.
    """
    alternative: Literal["two-sided", "upper"] = "two-sided"
    """Alternative hypothesis: `two-sided` (default), or `upper` as in older tools.

    Under `upper`, a negative effect size never has a small p.
    """
    test: Literal["permutation", "normal"] = "permutation"
    """Test: `permutation` (default), or `normal`.

    `normal` approximates the distribution over partitions by a normal one with the same mean and variance.
    """
    ddof: Annotated[int, Field(ge=0, le=1)] = 1
    """Delta degrees of freedom of the standard deviation that effect sizes are divided by. Default: 1."""
    exact: Annotated[int, Field(ge=0, le=PARTITIONS)] = 200_000
    """Largest number of partitions that the permutation test enumerates. Default: 200000.

    Beyond it, the test draws random ones.
    """
    draws: Annotated[int, Field(ge=100, le=RESAMPLES)] = 10_000
    """Number of random partitions to draw if there are more than `exact`. Default: 10000."""
    max_missing: Share = 0.2
    """Largest share of a list of words that may be missing; with more, a category has no effect size. Default: 0.2."""
    duplicates: Literal["error", "allow"] = "error"
    """Treatment of a word that occurs twice among the targets, or among the attributes, of a category.

    `error` (default) raises an error; `allow` accepts the word.
    """

    @model_validator(mode="before")
    @classmethod
    def _compatible(cls, fields: Any) -> Any:
        """Take the values of parameters that are not set from the preset that `compat` names."""
        if isinstance(fields, dict) and isinstance(fields.get("compat"), str):
            name = fields["compat"]
            if name not in cls.presets:
                raise ValueError(f"unknown compat '{name}'; use one of {', '.join(cls.presets)}")
            return {**cls.presets[name], **fields}
        return fields


class WEATSettings(AssociationSettings):
    """The parameters of WEAT, the word embedding association test on static word vectors."""

    name: ClassVar[str] = "weat"
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "sent-bias": {"alternative": "upper", "ddof": 1, "exact": 100_000, "draws": 99_999},
        "wefe": {"alternative": "upper", "ddof": 0, "exact": 0, "draws": 10_000, "max_missing": 0.2},
        "paper": {"alternative": "upper", "ddof": 1, "exact": 100_000, "draws": 99_999, "duplicates": "allow"},
    }

    case: Literal["auto", "keep", "lower"] = "auto"
    """Spelling in which words are looked up: as written (`keep`) or in lower case (`lower`).

    `auto` (default) is `lower` if no word of the vocabulary has a capital letter.
    """


class SEATSettings(AssociationSettings):
    """The parameters of SEAT, the sentence encoder association test on vectors of template sentences."""

    name: ClassVar[str] = "seat"
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "sent-bias": {**WEATSettings.presets["sent-bias"], "pooling": "cls", "unit": "sentence"},
        "paper": {**WEATSettings.presets["paper"], "pooling": "cls", "unit": "sentence"},
    }

    layers: Layers = default_of(default=(-1,))
    """Layers to read, all in one forward pass: 0 is the embeddings, −1 (default) the last layer."""
    pooling: Literal["mean", "mean-special", "cls", "last"] = "mean"
    """Vector that represents a sentence.

    The `mean` over its tokens without special ones (default), `mean-special` with them, `cls` the first token, or
    `last` the last token.
    """
    unit: Literal["word", "sentence"] = "word"
    """Unit that the test and the interval treat as independent: words (default) or sentences.

    Sentences with the same word are hardly independent.
    """


class CEATSettings(AssociationSettings):
    """The parameters of CEAT, the contextualized embedding association test on words in natural sentences."""

    name: ClassVar[str] = "ceat"
    limited: ClassVar[str] = "words of each list, and sentences of each word in a segment,"
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "ceat": {"alternative": "upper", "ddof": 1, "samples": [10_000], "segments": ["all"], "sampling": ["random"]},
        "paper": {"ddof": 1, "samples": [5_000, 1_000], "sampling": ["fixed", "random"], "duplicates": "allow"},
    }

    sentences: Annotated[
        Given[str | list[str] | None, Data | None], CITED, TableField(("id", "word", "text", "start", "end"))
    ] = default_of(default=None)
    """Files of sentences. Default: the sentences that a study draws from its corpus.

    A table with id, word, text, start and end (see `penchant schema occurrences`), or plain text with one sentence per
    line, which is searched for the words with their suffixes.
    """
    segments: Annotated[Given[tuple[Bound, ...], Iterable[int | str]], Field(min_length=1, strict=False)] = default_of(
        default=(9, 25, 75, ">75")
    )
    """Context lengths, in words. Default: 9, 25, 75 and ">75".

    L: a window of L words around the word; ">L": whole sentences of more than L words; "all": whole sentences of any
    length.
    """
    mode: Literal["window", "bin"] = "window"
    """Meaning of a length L: `window` (default) or `bin`.

    `window` cuts L words around the word; `bin` takes whole sentences of at most L words and more than the next smaller
    length.
    """
    samples: Several[Annotated[int, Field(ge=2, le=RESAMPLES)]] = default_of(default=(1_000,))
    """Number of samples to combine. With several numbers, each gives its own results. Default: 1000."""
    sampling: Several[Literal["fixed", "random"]] = default_of(default=("fixed",))
    """Choice of sentences: `fixed` (default) or `random`.

    `fixed`: the same sentences for every model and number of samples; `random`: sentences drawn anew for each.
    """
    layers: Layers = default_of(default=(-1,))
    """Layers to read, all in one forward pass: 0 is the embeddings, −1 (default) the last layer."""
    pieces: Literal["mean", "first", "last", "root"] = "mean"
    """Vector that represents a word of several pieces.

    The `mean` over them (default), the `first`, the `last`, or the mean over the pieces of its `root`, without
    suffixes.
    """
    minimum: Annotated[int, Field(ge=1, le=COUNT)] = 1
    """Fewest usable sentences a word must have in a segment; with fewer it counts as missing there. Default: 1."""
    resamples: Annotated[int, Field(ge=100, le=RESAMPLES)] = 1_000
    """Number of bootstrap resamples. Default: 1000."""

    @model_validator(mode="after")
    def _possible(self) -> Self:
        try:
            segments(self.segments, self.mode)
        except MethodError as error:
            raise ValueError(str(error)) from error
        return self


class LogProbBiasSettings(AssociationSettings):
    """The parameters of the log-probability bias score: how much more probable an attribute makes a target."""

    name: ClassVar[str] = "logprob-bias"
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "first-piece": {"pieces": "first"},
        "paper": {"duplicates": "allow"},
    }

    contexts: Annotated[Given[str | None, File | None], CITED] = default_of(default=None)
    """A set of stimuli that lends its sentences to categories without any. Default: none.

    A category takes those of the category with the same name, or else of the first whose name ends with the same number
    (`ceat1` those of `C1`). If the folder `data` has traits, they become the attributes of that set's paired targets.
    """
    pieces: Literal["all", "first"] = "all"
    """Scoring of a word of several pieces: `all` (default) or `first`.

    `all`: one mask per piece and the sum of their log-probabilities; `first`: a single mask, scored for the first piece
    as in older code.
    """


_KINDS = {kind.name: kind for kind in (WEATSettings, SEATSettings, CEATSettings, LogProbBiasSettings)}


def settings_of(result: BaseResult) -> AssociationSettings:
    """Return the settings of the result of an association test. Raises StudyError if they are invalid."""
    return _KINDS[result.signature["probe"]].of(result.settings)
