"""Write docs/licences.md: the licences of all packages that penchant installs, from their metadata.

usage: python docs/make_licences.py
"""

from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

HEAD = """---
myst:
  html_meta:
    description: "The licence of every package that penchant or one of its extras installs."
---

# Licences of the packages that penchant installs

penchant is Apache-2.0. This page is made from the metadata of the packages by `docs/make_licences.py`. *With* names the
extras that bring a package; every installation has the others.

| package | licence | with |
|---|---|---|
"""
EXTRAS = ("gguf", "cards", "adapters", "tables", "survey", "vectors", "corpus", "ray", "rate")


def required(name: str, extras: tuple[str, ...]) -> set[str]:
    """Return the packages that a package with some extras needs, directly or through others."""
    found: set[str] = set()
    waiting = [(name, extras)]
    while waiting:
        name, extras = waiting.pop()
        try:
            lines = distribution(name).requires or []
        except PackageNotFoundError:  # not on this system
            continue
        for line in lines:
            need = Requirement(line)
            if need.marker and not any(need.marker.evaluate({"extra": extra}) for extra in (*extras, "")):
                continue
            key = canonicalize_name(need.name)
            if key not in found:
                found.add(key)
                waiting.append((key, tuple(need.extras)))
    return found


def licence(name: str) -> str | None:
    """Return the licence of an installed package in SPDX or its own short words, None if it is not installed."""
    try:
        about = distribution(name).metadata
    except PackageNotFoundError:
        return None
    classifiers = [line.split(" :: ")[-1] for line in about.get_all("Classifier") or () if line.startswith("License")]
    told = about.get("License-Expression") or " or ".join(classifiers) or (about.get("License") or "").splitlines()[:1]
    return told if isinstance(told, str) else "".join(told) or "not stated"


def page() -> str:
    """Return the page."""
    always = required("penchant", ())
    extras = {extra: required("penchant", (extra,)) - always for extra in EXTRAS}
    rows = []
    for name in sorted(always.union(*extras.values())):
        if found := licence(name):
            brought = ", ".join(extra for extra in EXTRAS if name in extras[extra])
            rows.append(f"| {name} | {found} | {brought} |\n")
    return HEAD + "".join(rows)


if __name__ == "__main__":
    (Path(__file__).parent / "licences.md").write_text(page(), "utf-8")
