"""The wheel and the source distribution: what is in them, and that the wheel works alone, outside the repository."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
import yaml
from packaging.metadata import Metadata

import penchant
from paths import ROOT
from penchant._version import RELEASED

pytestmark = pytest.mark.whole
MOST = 12e6
"""The largest size of the wheel in bytes. The two bundled models are 9.7 MB of it."""
LARGE = {
    f"penchant/bundled/{name}/model.safetensors": "a bundled model: demo, tutorials and tests run offline with it"
    for name in ("modern", "early-modern")
}
"""Why each file of more than 500 kB is in the wheel."""
EXTRAS = {
    "gguf": ("gguf", "accelerate"),
    "cards": ("accelerate",),
    "adapters": ("peft",),
    "tables": ("openpyxl",),
    "survey": ("pyreadstat",),
    "vectors": ("gensim", "numba"),
    "corpus": ("ahocorasick_rs", "sentencex", "rensa", "fsspec"),
    "ray": ("ray",),
    "rate": ("starlette", "uvicorn", "markdown_it"),
}
PAIRS = "good\tbad\nThe cats sleep.\tThe cats sleeps.\nShe sings.\tShe sing.\nHe was there.\tHe were there.\n"
STUDY = "study: s\nmodels: ['bundled:modern']\nprobes:\n  - minimal-pairs: {data: pairs.tsv, resamples: 100}\n"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory with the wheel and the source distribution."""
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-d", folder], cwd=ROOT, check=True, capture_output=True
    )
    return folder


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    (found,) = built.glob("*.whl")
    return found


def run(*words: str | Path, cwd: Path, env: dict[str, str] | None = None) -> str:
    done = subprocess.run(words, cwd=cwd, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{words}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def environment(folder: Path, *packages: str, python: str = sys.executable) -> Path:
    """Make an empty virtual environment with some packages, and return the directory of its programs."""
    subprocess.run([python, "-m", "venv", folder], check=True)
    pip = ("-m", "pip", "install", "-q", "--no-compile", "-c", ROOT / "constraints.txt")
    run(folder / "bin" / "python", *pip, *packages, cwd=folder)
    return folder / "bin"


def test_the_version_is_the_same_everywhere(built: Path) -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    names = sorted(path.name for path in built.iterdir())
    assert names == [f"penchant-{penchant.__version__}-py3-none-any.whl", f"penchant-{penchant.__version__}.tar.gz"]
    changes = (ROOT / "CHANGELOG.md").read_text("utf-8")
    assert (cited["version"], str(cited["date-released"])[:4]) == (penchant.__version__, RELEASED)
    assert f"## {penchant.__version__} ({cited['date-released']})" in changes


def test_its_metadata_are_valid(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [each for each in archive.namelist() if each.endswith(".dist-info/METADATA")]
        about = Metadata.from_email(archive.read(name), validate=True)
    assert (about.name, str(about.version)) == ("penchant", penchant.__version__)
    assert about.license_expression == "Apache-2.0" and (about.description or "").startswith("# penchant")
    assert set(EXTRAS) | {"dev", "docs"} == set(about.provides_extra or ())


def test_the_wheel_is_small_and_has_the_package_alone(wheel: Path) -> None:
    files = zipfile.ZipFile(wheel).infolist()
    assert {file.filename for file in files if file.file_size > 500_000} == LARGE.keys()
    assert wheel.stat().st_size <= MOST
    assert {file.filename.split("/")[0].split("-")[0] for file in files} == {"penchant"}
    assert any(file.filename == "penchant/py.typed" for file in files)


def test_the_source_distribution_has_what_its_tests_need(built: Path) -> None:
    (found,) = built.glob("*.tar.gz")
    with tarfile.open(found) as archive:
        names = {name.split("/", 1)[1] for name in archive.getnames() if "/" in name}
    assert {
        "pyproject.toml",
        "README.md",
        "LICENSE",
        "CITATION.cff",
        "src/penchant/__init__.py",
        "tests/zoo.py",
    } <= names


@pytest.mark.parametrize(
    "python", [sys.executable, *(pytest.param(name, marks=pytest.mark.slow) for name in ("python3.12", "python3.13"))]
)
def test_the_wheel_works_alone(wheel: Path, tmp_path: Path, python: str) -> None:
    if shutil.which(python) is None or subprocess.run([python, "-V"], check=False, capture_output=True).returncode:
        pytest.skip(f"{python} is not here")
    programs = environment(tmp_path / "venv", f"penchant[rate] @ file://{wheel}", python=python)
    home = tmp_path / "home"
    home.mkdir()
    (home / "pairs.tsv").write_text(PAIRS, "utf-8")
    (home / "s.yaml").write_text(STUDY, "utf-8")
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "LANG", "TMPDIR")}
    env = {**kept, "HOME": str(home), "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}

    def ran(*words: str) -> str:
        return run(programs / "penchant", *words, cwd=home, env=env)

    where = run(programs / "python", "-c", "import penchant; print(penchant.__file__)", cwd=home, env=env)
    assert Path(where.strip()).is_relative_to(programs.parent)
    assert ran("--version").strip() == penchant.__version__
    assert ran("demo").startswith("- bundled:early-modern leans")
    (home / "texts.txt").write_text("The cats sleep.\n", "utf-8")
    assert "The cats sleep." in ran("score", "texts.txt", "-m", "bundled:modern")
    ran("run", "s.yaml", "-o", "out")
    ran("report", "out", "-o", "page.html")
    ran("rate", "pairs.tsv", "-o", "said.sqlite", "--raters", "ann", "--html", "sheets")
    pages = [home / "page.html", *(home / "sheets").glob("*.html")]
    assert len(pages) == 2 and all(page.stat().st_size > 10_000 for page in pages)


@pytest.mark.slow
@pytest.mark.parametrize("extra", EXTRAS)
def test_each_extra_installs_and_imports(wheel: Path, tmp_path: Path, extra: str) -> None:
    programs = environment(tmp_path / "venv", f"penchant[{extra}] @ file://{wheel}")
    run(programs / "python", "-c", f"import penchant, {', '.join(EXTRAS[extra])}", cwd=tmp_path)
