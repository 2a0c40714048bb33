"""docs/demo.md, its pictures and docs/demo.csv from the result directory of `penchant demo`.

usage: python docs/make_demo.py RESULT_DIR
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import polars as pl
import vl_convert

from penchant.files import write_bytes, write_text
from penchant.records import Result
from penchant.report import cloze

NUMBERS = ("measure", "group", "value", "low", "high", "n", "p", "p_holm")
HERE = Path(__file__).parent


def main() -> None:
    folder = Path(sys.argv[1])
    units = json.loads((folder / "manifest.json").read_text("utf-8"))["units"].values()
    results = [Result.load(folder / unit["directory"]) for unit in units]
    compared = pl.read_parquet(folder / "cloze" / "comparison.parquet")
    own = [r.summary.select(pl.lit(r.signature["model"]).alias("model"), *NUMBERS) for r in results]
    pair = compared.select(pl.col("comparison").alias("model"), *NUMBERS)
    write_text(pl.concat([*own, pair]).write_csv(), HERE / "demo.csv")
    for chart in ("beta", "delta"):
        shutil.copyfile(folder / "cloze" / f"{chart}.svg", HERE / f"demo-{chart}.svg")
    drawn = (folder / "cloze" / "sentences.svg").read_text("utf-8")  # a megabyte, most of it labels for screen readers
    write_bytes(vl_convert.svg_to_png(drawn, scale=1), HERE / "demo-sentences.png")
    parts = {
        "TABLE": ["```", cloze.table(results), "```"],
        "COMPARISON": ["```", cloze.comparison(compared), "```"],
        "SIGNATURE": ["```", *(r.summary["signature"][0] for r in results), "```"],
        "CAUTIONS": [f"- {r.signature['model']}: {caution}" for r in results for caution in r.cautions],
    }
    page = (HERE / "demo.template.md").read_text("utf-8")
    for name, lines in parts.items():
        page = page.replace(f"<!-- {name} -->", "\n".join(lines))
    write_text(page, HERE / "demo.md")


if __name__ == "__main__":
    main()
