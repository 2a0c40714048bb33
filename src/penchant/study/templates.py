"""What `penchant init` writes and `penchant list` shows."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from penchant.data.cloze import SET_FILE
from penchant.data.grammar import bundled_grammars, find_grammar
from penchant.data.grammar_file import GRAMMAR_FILE, read_grammar_file
from penchant.data.registry import BUNDLED, bundled_data
from penchant.data.survey import synthetic_survey
from penchant.engine.methods import METHODS
from penchant.errors import MethodError, OutputError
from penchant.files import write_text
from penchant.probes.association import Association
from penchant.study.spec import PROBES

_STUDY = """\
# A minimal-pair study. Run it with: penchant run minimal-pairs.yaml -o results
study: my-minimal-pairs
seed: 0
models:
  - gpt2                  # a hub name, a directory, a GGUF file
probes:
  - minimal-pairs:
      data: [pairs.tsv]   # BLiMP, CrowS-Pairs, COMPS or a table with the columns good, bad, group
      # method: lp        # default: lp for causal models, pll for masked ones
      # normalise: [none, mean, pen]
"""

_PAIRS = """\
good\tbad\tgroup
The keys to the cabinet are on the table.\tThe keys to the cabinet is on the table.\tagreement
The author who met the pilots laughs.\tThe author who met the pilots laugh.\tagreement
Nobody has ever seen it.\tSomebody has ever seen it.\tpolarity
No guest had any doubt.\tThe guest had any doubt.\tpolarity
"""

_CLOZE = """\
# How a model leans between two varieties of a language. Run it with: penchant run cloze.yaml -o first
# Then rate what it predicted: penchant ratings export first -o rate.csv; … import …; … agreement (see the README)
study: my-cloze
seed: 0
models:
  - bert-base-multilingual-cased   # a hub name, a directory, a bundled: name
probes:
  - cloze:
      data: .               # this directory: set.yaml and sentences.csv
      k: 10                 # how many of the most probable words count
      ratings: ratings.csv  # grows with every import
"""

_SET = """\
# A test set: sentences with one gap on a scale from -1 (low) to 1 (high). penchant schema cloze tells every key.
language: en
scale: {low: informal English, high: formal English}
sentences: sentences.csv
# lexicon: [words.csv]      # word, valence: what a word is worth in every sentence
# candidates: fillers.csv   # sentence, word: a closed list for causal models
"""

_SENTENCES = """\
id,text,expected,group
i1,"Can't [MASK] you till tonight, sorry.",-1,informal
i2,"Yeah, that's a pretty [MASK] idea.",-1,informal
f1,We regret to [MASK] you that the meeting has been postponed.,1,formal
f2,The committee wishes to [MASK] its gratitude to the participants.,1,formal
n1,The train leaves at [MASK].,0,neutral
n2,She put the [MASK] on the table.,0,neutral
"""

_RATINGS = "sentence,word,rater,rating\n"

_VALUES = """\
# Value statements, calibrated on neutral ones and held against a survey: penchant run values.yaml -o results
# The survey here is SYNTHETIC, made up by penchant; put your own answers in its place, or remove the line.
study: my-values
seed: 0
models:
  - bundled:modern          # a hub name, a directory, a GGUF file
probes:
  - values:
      data: .               # this directory: set.yaml, statements.csv, calibration.csv
      survey: survey.yaml
"""

_VALUES_SET = """\
# A set of statements. penchant schema values tells every key.
language: en
templates:                  # the stance in [brackets]; the two sentences are equal but for it
  - variant: said
    group: feminine
    agree: "She said that she [agrees] that {statement}."
    disagree: "She said that she [disagrees] that {statement}."
  - variant: said
    group: masculine
    agree: "He said that he [agrees] that {statement}."
    disagree: "He said that he [disagrees] that {statement}."
"""

_VALUE_STATEMENTS = """\
id,text,value,reversed,negation
o1,libraries should be open at night,openness,no,libraries should not be open at night
o2,old habits are best left as they are,openness,yes,old habits are not best left as they are
o3,new ways of working deserve a trial,openness,no,new ways of working do not deserve a trial
t1,money should be saved for hard times,thrift,no,money should not be saved for hard times
t2,a repaired coat is as good as a new one,thrift,no,a repaired coat is not as good as a new one
t3,it is fine to throw away what still works,thrift,yes,it is not fine to throw away what still works
"""

_SURVEY = """\
# Answers of people. penchant schema values tells every key.
name: made-up answers
file: answers.csv
groups: {column: group, levels: {feminine: feminine, masculine: masculine}}
# columns: {o1: Q17}        # statement id: column, where the table names them otherwise
# filter: {wave: 2}         # keep the rows with this value
# missing: [NA, 99]
"""

_ASSOCIATIONS = """\
# Association tests and the log-probability bias score: penchant run associations.yaml -o results
# Each probe reads the models that fit it: weat files of word vectors, seat and ceat any language model or encoder,
# logprob-bias masked models.
study: my-associations
seed: 0
models:
  - bundled:modern          # a hub name, a directory, a GGUF file
  # - vectors.txt           # word2vec or GloVe vectors, for weat
probes:
  # - weat: {data: .}
  - seat: {data: .}         # this directory: set.yaml; or a bundled set: associations-en, associations-bn
  - ceat:
      data: .
      sentences: sentences.txt    # one sentence a line, or a table with id, word, text, start, end
      segments: [5, all]          # windows of 5 words around the word, and whole sentences
      samples: [100]              # in earnest 1,000 or 5,000
  - logprob-bias: {data: .}
"""

_ASSOCIATION_SET = """\
# A set of stimuli. penchant schema stimuli tells every key.
language: en
lists:
  trees: {label: trees, templates: thing, words: [oak, elm, willow, birch]}
  tools: {label: tools, templates: thing, words: [hammer, saw, spade, axe]}
  calm: {label: calm, templates: quality, words: [peace, rest, quiet, shade]}
  effort: {label: effort, templates: quality, words: [work, noise, labour, trouble]}
templates:                  # for seat: sentences that say little
  thing: ["This is the {word}.", "Here is the {word}."]
  quality: ["This is {word}.", "It is about {word}."]
contexts:                   # for logprob-bias: structures in the order of their context
  brings:
    - {structure: S1, text: "The {target} brings {attribute}."}
    - {structure: S2, text: "The {target} brings {attribute} every day."}
suffixes:                   # for ceat: how words occur in running text
  groups: {plural: [s]}
  lists: {trees: plural, tools: plural}
categories:
  C1: {label: "trees and tools, calm and effort", X: trees, Y: tools, A: calm, B: effort, contexts: brings}
"""

_ASSOCIATION_SENTENCES = """\
We sat in the shade of an old oak until evening.
The oak by the gate lost its leaves in one night.
Two elms stood beside the road to the mill.
Under the elm there was peace at last.
A willow leaned over the quiet water.
The willows moved a little in the wind.
The birch is the first tree to turn yellow.
They planted a birch behind the school.
He put the hammer back on its nail.
The noise of hammers came from the yard.
She took the saw and went to work.
The saw was old but sharp.
A spade stood in the wet earth.
He leaned on his spade to rest.
The axe fell with a dull sound.
Nobody could lift the axe without trouble.
There was peace in the house that night.
After the rest they walked on in peace.
The rest of the day was warm and still.
A rest would do you good, she said.
The quiet of the garden did him good.
All was quiet behind the mill.
The shade moved slowly over the grass.
The work was done before noon.
Hard work had made his hands rough.
The noise went on until morning.
There is labour in every loaf of bread.
His labour was well paid.
The trouble began with a letter.
It was no trouble to anyone.
"""

_SHARED = {"set.yaml": _ASSOCIATION_SET, "sentences.txt": _ASSOCIATION_SENTENCES, "associations.yaml": _ASSOCIATIONS}

_TEMPLATES = {
    **dict.fromkeys(("weat", "seat", "ceat", "logprob-bias"), _SHARED),
    "cloze": {
        "cloze.yaml": _CLOZE,
        "set.yaml": _SET,
        "sentences.csv": _SENTENCES,
        "ratings.csv": _RATINGS,
    },
    "values": {
        "values.yaml": _VALUES,
        "set.yaml": _VALUES_SET,
        "statements.csv": _VALUE_STATEMENTS,
        "survey.yaml": _SURVEY,
    },
    "minimal-pairs": {"minimal-pairs.yaml": _STUDY, "pairs.tsv": _PAIRS},
}


def write_template(probe: str, directory: Path) -> list[Path]:
    """Write the starting files of a probe; none is overwritten. Raises MethodError or OutputError."""
    if probe not in _TEMPLATES:
        raise MethodError(f"no template for '{probe}'", hint=f"use one of {', '.join(_TEMPLATES)}")
    texts = _TEMPLATES[probe] | (_made() if probe == "values" else {})
    paths = {directory / name: text for name, text in texts.items()}
    for path in paths:
        if path.exists():
            raise OutputError("is already there", where=str(path), hint="remove it or name another directory")
    for path, text in paths.items():
        write_text(text, path)
    return list(paths)


def _made() -> dict[str, str]:
    """The neutral statements that ship with penchant, and made-up answers to the statements of the template."""
    rows = [line.split(",") for line in _VALUE_STATEMENTS.splitlines()[1:]]
    statements = {row[0]: (row[2], row[3] == "yes") for row in rows}
    means = {"feminine": {"openness": 3.6, "thrift": 3.4}, "masculine": {"openness": 3.4, "thrift": 3.1}}
    sds = {group: dict.fromkeys(own, 0.7) for group, own in means.items()}
    answers = synthetic_survey(means, sds, {"feminine": 120, "masculine": 100}, statements=statements, seed=0)
    neutral = BUNDLED / "political-values-en" / "calibration.csv"
    return {"calibration.csv": neutral.read_text("utf-8"), "answers.csv": answers.write_csv()}


def catalogue() -> dict[str, list[tuple[str, str]]]:
    """What `penchant list` knows, by topic."""
    return {
        "probes": [(name, (probe.__doc__ or "").splitlines()[0]) for name, probe in PROBES.items()],
        "models": [
            ("NAME[@REVISION]", "a model on the Hugging Face hub: masked, causal or encoder"),
            ("DIRECTORY", "what save_pretrained wrote"),
            ("FILE.gguf", "a causal model in a GGUF file (needs penchant[gguf])"),
            (
                "FILE.txt .vec .bin .npy",
                "static word vectors: word2vec, GloVe, or an array with its vocabulary",
            ),
            *((f"bundled:{name}", "ships with penchant") for name in _bundled()),
        ],
        "data": [
            *((name, f"bundled {_kind(name)}") for name in bundled_data()),
            ("BLiMP", "JSON lines: sentence_good, sentence_bad, UID, linguistics_term"),
            ("CrowS-Pairs", "CSV: sent_more, sent_less, stereo_antistereo, bias_type"),
            ("COMPS", "JSON lines: prefix_acceptable, prefix_unacceptable, property_phrase"),
            (
                "plain table",
                "CSV, TSV, JSON lines or Parquet: good, bad, and optionally group, phenomenon, id",
            ),
            (
                f"directory with {SET_FILE}",
                "a cloze test set or a set of value statements (penchant schema cloze, values)",
            ),
            ("survey.yaml", "people's answers to value statements (penchant schema values)"),
            (
                "stimuli",
                "for association tests: a directory with set.yaml, SEAT's or CEAT's JSONL files, or a table with "
                "category, set, word (penchant schema stimuli)",
            ),
            (
                "sentences",
                "for ceat: plain text with one sentence a line, or a table with id, word, text, start, end "
                "(penchant schema occurrences)",
            ),
        ],
        "methods": [
            *((method.name, f"{method.kind}: {method.summary}") for method in METHODS.values()),
            ("fill", "masked: the most probable tokens at a gap (cloze only)"),
            ("span", "masked: log P of some tokens, all masked at once (values only)"),
            ("none", "normalisation: the sum over tokens, as it is"),
            ("mean", "normalisation: divided by the number of tokens |S|"),
            ("pen", "normalisation: divided by ((5+|S|)/6)^0.8"),
        ],
        "grammars": [
            (f"{name}: {paradigm}", f"{rules.linguistics_term} ({rules.field})")
            for name in bundled_grammars()
            for paradigm, rules in read_grammar_file(find_grammar(name) / GRAMMAR_FILE)[0].paradigms.items()
        ],
        "compat": [
            (f"{name}: {preset}", ", ".join(f"{key} {_listed(value)}" for key, value in settings.items()))
            for name, probe in PROBES.items()
            if issubclass(probe, Association)
            for preset, settings in probe.presets.items()
        ],
    }


def _listed(value: object) -> str:
    return "+".join(map(str, value)) if isinstance(value, list) else str(value)


def _kind(name: str) -> str:
    if name.startswith("associations-"):
        return "set of stimuli for association tests"
    return "set of value statements" if (BUNDLED / name / "calibration.csv").is_file() else "cloze test set"


def _bundled() -> list[str]:
    home = Path(str(files("penchant"))) / "bundled"
    return sorted(child.name for child in home.iterdir() if child.is_dir()) if home.is_dir() else []
