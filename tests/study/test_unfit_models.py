"""Every model of a study is looked at before the first is measured; all that do not fit are told at once."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import zoo as tiny
from answers import Answer, refused
from brute_associations import write_set
from builders import Program, Zoo, contents, succeeded, write, write_study
from hub_server import NAME, Hub, changed, files
from penchant.study.manifest import read_manifest

PAIRS = "good\tbad\nThe cats sleep.\tThe cats sleeps.\nShe sings.\tShe sing.\n"
LISTS = {
    "x": ["teacher", "nurse", "doctor"],
    "y": ["dog", "horse", "key"],
    "a": ["old", "careless", "late"],
    "b": ["good", "remarkable", "wonderful"],
}
CONTEXTS = [{"structure": "S", "text": "The {target} is {attribute}."}]
VECTORS = "".join(f"{word} {n} 1\n" for n, word in enumerate(word for words in LISTS.values() for word in words))
OF_PAIRS = {"minimal-pairs": {"data": "pairs.tsv", "resamples": 100}}
OF_WORDS = {"weat": {"data": ".", "resamples": 100}}
OF_MASKS = {"logprob-bias": {"data": ".", "resamples": 100}}
OF_SENTENCES = {"seat": {"data": ".", "resamples": 100}}


@pytest.fixture
def here(zoo: Zoo, tmp_path: Path) -> Path:
    """A directory with a masked, a causal and a headless model, word vectors, pairs and a set of words."""
    home = tmp_path / "here"
    for name in ("bert", "gpt2", "bert-headless"):
        shutil.copytree(zoo(name), home / name)
    (home / "v.txt").write_text(VECTORS, "utf-8")
    (home / "pairs.tsv").write_text(PAIRS, "utf-8")
    lists = {name: {"words": words, "templates": "t"} for name, words in LISTS.items()}
    category = {**dict(zip("XYAB", LISTS, strict=True)), "contexts": "c"}
    write_set(home, lists, {"C": category}, templates={"t": ["The {word} said no."]}, contexts={"c": CONTEXTS})
    return home


@pytest.fixture
def study(here: Path) -> Callable[..., Path]:
    """Write a study of models and probes."""
    return lambda models, *probes: write_study(here / "s.yaml", models, *probes)


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The models that an instrument is run on."""
    from penchant.instruments.base_probe import Probe

    seen: list[str] = []
    run = Probe.run

    def watched(self: Any, model: Any, *arguments: Any) -> Any:
        seen.append(model.name)
        return run(self, model, *arguments)

    monkeypatch.setattr(Probe, "run", watched)
    return seen


def lines(answer: Answer) -> list[str]:
    """The lines of a refusal, in which nothing else stands."""
    code, out, err = answer
    assert (code, out) == (2, ""), err
    assert all(line.startswith("penchant: ") for line in err.splitlines()), err
    return err.splitlines()


DAMAGE: dict[str, Callable[[Path], object]] = {
    "the directory has no config.json": lambda model: (model / "config.json").unlink(),
    "there are no safetensors weights": lambda model: (model / "model.safetensors").unlink(),
    "are no safetensors": lambda model: (model / "model.safetensors").rename(model / "pytorch_model.bin"),
    "": lambda model: list(map(Path.unlink, model.glob("*token*"))),
    "is an encoder-decoder": lambda model: write(model / "config.json", '{"model_type": "speech_to_text"}'),
    "is an adapter": lambda model: write(model / "adapter_config.json", "{}"),
}


def damaged(here: Path, told: str) -> str:
    """A directory that is no model, by what is said of it."""
    DAMAGE[told](shutil.copytree(here / "bert", here / "other"))
    return "./other"


@pytest.mark.parametrize("told", DAMAGE)
def test_a_directory_that_is_no_model(
    penchant: Program, here: Path, study: Callable[..., Path], measured: list[str], told: str
) -> None:
    refused(penchant("run", study(["./bert", damaged(here, told)], OF_PAIRS), "-o", "out"), "other: ", told)
    assert measured == []
    assert not Path("out").exists()


BY_PLL = {"minimal-pairs": {"data": "pairs.tsv", "method": "pll"}}
BY_FILL = {"cloze": {"data": "early-modern-60", "method": "fill"}}


@pytest.mark.parametrize(
    ("models", "probes", "told"),
    [
        ("./bert ./missing", [OF_PAIRS], ["missing: no such file or directory"]),
        ("./bert nobody/missing", [OF_PAIRS], ["nobody/missing: no such directory, and it cannot be downloaded"]),
        ("./bert bundled:moden", [OF_PAIRS], ["bundled:moden: there is no bundled model with this name"]),
        ("./bert ./gpt2", [OF_MASKS], ["./gpt2: no probe in the study supports", "logprob-bias supports masked"]),
        ("./bert v.txt", [OF_PAIRS], ["v.txt: no probe in the study supports static", "minimal-pairs supports masked"]),
        ("./bert ./gpt2", [BY_PLL], ["minimal-pairs with ./gpt2: method 'pll' is for masked models", "use lp"]),
        ("bundled:modern ./gpt2", [BY_FILL], ["cloze with ./gpt2: ./gpt2 is causal", "use method lp"]),
        ("./bert pairs.tsv", [OF_PAIRS], ["pairs.tsv: is neither a model directory, a GGUF file nor word vectors"]),
        ("./bert words.txt", [OF_PAIRS, OF_WORDS], ["words.txt: is not a word-vector file"]),
        ("./bert ./bert-headless", [OF_PAIRS], ["./bert-headless: no word probabilities", "minimal-pairs supports"]),
        ("./bert ./gpt2", [OF_PAIRS, OF_WORDS], ["no model of the study fits weat", "not ./bert (masked), ./gpt2"]),
        ("v.txt", [OF_PAIRS, OF_WORDS], ["no model of the study fits minimal-pairs", "static"]),
        ("./bert ./link", [OF_PAIRS], ["models: './bert' and './link' are both bert@"]),
    ],
)
def test_a_second_model_that_does_not_fit(
    penchant: Program,
    here: Path,
    study: Callable[..., Path],
    measured: list[str],
    models: str,
    probes: list[dict[str, Any]],
    told: list[str],
) -> None:
    write(here / "words.txt", "some words\nand more\n")
    (here / "link").symlink_to(here / "bert")
    refused(penchant("run", study(models.split(), *probes), "-o", "out"), *told)
    assert measured == []
    assert not Path("out").exists()


def test_texts_that_the_second_model_cannot_read(
    penchant: Program, here: Path, study: Callable[..., Path], measured: list[str]
) -> None:
    (here / "pairs.tsv").write_text(PAIRS + "The 漢字 sleep.\tThe cats sleeps.\n", "utf-8")  # gpt2 knows every byte
    refused(
        penchant("run", study(["./gpt2", "./bert"], OF_PAIRS), "-o", "out"),
        "minimal-pairs with ./bert: cannot be measured (unknown tokens)",
        "pairs.tsv, line 4",
        "on_unknown: skip",
    )
    assert measured == []
    (here / "pairs.tsv").write_text("good\tbad\n" + f"{'cats ' * 100}\tcats\n", "utf-8")
    told = lines(penchant("run", study(["./gpt2", "./bert"], OF_PAIRS), "-o", "out"))
    assert [line.split(":")[1] for line in told] == [" minimal-pairs with ./gpt2", " minimal-pairs with ./bert"]
    assert all("(length)" in line for line in told)
    assert not Path("out").exists()


def test_all_problems_are_told_at_once(
    penchant: Program, here: Path, study: Callable[..., Path], measured: list[str]
) -> None:
    models = ["./bert", "./missing", "v.txt", "./gpt2", damaged(here, "the directory has no config.json")]
    told = lines(penchant("run", study(models, BY_PLL), "-o", "out"))
    assert len(told) == 4
    parts = ("missing: no such", "v.txt: no probe", "minimal-pairs with ./gpt2: method", "other: the directory")
    for line, part in zip(told, parts, strict=True):
        assert part in line
    assert measured == []
    assert not Path("out").exists()
    told = lines(penchant("run", study(["./gpt2", "v.txt"], OF_MASKS, OF_SENTENCES, OF_PAIRS), "-o", "out"))
    assert len(told) == 2  # nothing reads the vectors, and nothing fits one probe
    assert "v.txt: no probe" in told[0] and "no model of the study fits logprob-bias" in told[1]


def test_what_is_skipped_stays_skipped(penchant: Program, study: Callable[..., Path]) -> None:
    path = study(["v.txt", "./bert", "./bert-headless"], OF_WORDS, OF_PAIRS, OF_SENTENCES)
    succeeded(penchant("run", path, "-o", "out"))
    manifest = read_manifest(Path("out") / "manifest.json")
    assert {(skip.probe, skip.spec) for skip in manifest.skipped} == {
        ("minimal-pairs", "v.txt"),
        ("seat", "v.txt"),
        ("weat", "./bert"),
        ("weat", "./bert-headless"),
        ("minimal-pairs", "./bert-headless"),
    }
    assert len(manifest.units) == 4
    before = contents("out")
    without = ("-m", "./bert", "-m", "./bert-headless", "-o", "out", "--resume")
    refused(penchant("run", path, *without), "no model of the study fits weat", "(masked)", "(encoder)")
    assert contents("out") == before


def test_only_what_is_not_finished_is_looked_at(penchant: Program, here: Path, study: Callable[..., Path]) -> None:
    path = study(["./bert", "./gpt2"], OF_PAIRS)
    assert penchant("run", path, "-o", "out")[0] == 0
    shutil.rmtree(here / "gpt2")
    assert penchant("run", path, "-o", "out", "--resume")[0] == 0
    before = contents("out")
    told = lines(penchant("run", path, "-m", "./bert", "-m", "./missing", "-m", "v.txt", "-o", "out", "--resume"))
    assert len(told) == 2
    assert contents("out") == before


def test_looking_at_a_model_of_the_hub_fetches_no_weights(
    penchant: Program, hub: Hub, bert: str, here: Path, study: Callable[..., Path], zoo: Zoo
) -> None:
    refused(penchant("run", study([NAME, "./missing"], OF_PAIRS), "-o", "out"), "missing")
    assert any("config.json" in request for request in hub.requests)
    assert not any("model.safetensors" in request or "storage" in request for request in hub.requests)
    content = {name: data for name, data in files(zoo("bert")).items() if name != "model.safetensors"}
    hub.repository("someone/empty").commit(content)
    refused(
        penchant("run", study(["./bert", "someone/empty"], OF_PAIRS), "-o", "out"),
        "someone/empty: there are no safetensors weights",
    )
    hub.repository("someone/index").commit(
        {**content, "model.safetensors.index.json": json.dumps({"weight_map": {"a": "part.safetensors"}}).encode()}
    )
    refused(
        penchant("run", study(["./bert", "someone/index"], OF_PAIRS), "-o", "out"),
        "someone/index: the repository has no part.safetensors",
    )
    refused(penchant("run", study([NAME, f"{NAME}@{bert}"], OF_PAIRS), "-o", "out"), "are both", bert[:7])
    assert not Path("out").exists()
    assert penchant("run", study([NAME], OF_PAIRS), "-o", "out")[0] == 0
    hub.go()
    assert penchant("run", study([NAME, "./gpt2"], OF_PAIRS), "-o", "again")[0] == 0  # from the local cache


def test_the_zoo_is_looked_at_as_it_is_loaded(zoo: Zoo) -> None:
    """The kind that the configuration names is that of the model with its weights; where it cannot tell, it says so."""
    import penchant as pc
    from penchant.models.model_outline import outline

    for name in tiny.ALL:
        seen, model = outline(str(zoo(name))), pc.load(zoo(name))
        assert seen.kind == model.kind or not seen.certain, name
        assert seen.certain == (model.kind != "encoder"), name
        assert seen.model is not None and isinstance(model, pc.LanguageModel)
        assert seen.model.begin == model.begin
        assert seen.model.max_tokens >= model.max_tokens
        assert seen.model.tokenizer.count(["The cats sleep."]) == model.tokenizer.count(["The cats sleep."])


def test_the_chat_template_of_a_gguf_file_is_looked_for_first(
    penchant: Program, study: Callable[..., Path], here: Path, measured: list[str]
) -> None:
    gguf = pytest.importorskip("gguf")
    for name, template in (("a", None), ("b", "{{ messages }}")):
        writer = gguf.GGUFWriter(here / f"{name}.gguf", "llama")
        if template:
            writer.add_chat_template(template)
        for step in ("header", "kv_data"):
            getattr(writer, f"write_{step}_to_file")()
        writer.close()
    chat = {"minimal-pairs": {"data": "pairs.tsv", "elicit": "chat"}}
    first = lines(penchant("run", study(["./gpt2", "a.gguf"], OF_PAIRS, chat), "-o", "out"))
    assert ["a.gguf" in line for line in first] == [False, True]
    second = lines(penchant("run", study(["b.gguf"], chat), "-o", "out"))
    assert "no chat template" not in " ".join(second)  # it has one, and fails when it is loaded
    assert not measured


def test_a_gguf_file_is_looked_at_without_reading_it(penchant: Program, study: Callable[..., Path], here: Path) -> None:
    pytest.importorskip("gguf")
    (here / "a.gguf").write_bytes(b"GGUF and so on")
    told = lines(penchant("run", study(["a.gguf", "./bert"], OF_MASKS), "-o", "out"))
    assert len(told) == 1 and "a.gguf: no probe in the study supports causal models" in told[0]
    (here / "a.gguf").write_bytes(b"no model")
    refused(penchant("run", study(["./bert", "a.gguf"], OF_PAIRS), "-o", "out"), "a.gguf: is not a GGUF file")
    assert not Path("out").exists()


@pytest.mark.parametrize("changes", [False, True])
def test_texts_are_read_once_unless_the_tokenizer_changes_meanwhile(
    penchant: Program, here: Path, study: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, changes: bool
) -> None:
    from penchant.instruments.base_probe import Probe
    from penchant.study import model_check

    read: list[int] = []
    texts, run = model_check._texts, Probe.run_as

    def counting(model: Any, given: Any) -> Any:
        read.append(len(given))
        return texts(model, given)

    def changing(self: Any, model: Any, *arguments: Any) -> Any:
        if changes and model.kind == "causal":
            for name, data in changed(files(here / "bert")).items():
                (here / "bert" / name).write_bytes(data)
        return run(self, model, *arguments)

    monkeypatch.setattr(model_check, "_texts", counting)
    monkeypatch.setattr(Probe, "run_as", changing)
    succeeded(penchant("run", study(["./gpt2", "./bert"], OF_PAIRS), "-o", "out"))
    assert read == [4, 4, 0, 4 if changes else 0]
