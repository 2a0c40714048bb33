"""Build the documentation as pages that need no server and no network: see scripts/site.

Sphinx with Furo and MyST-NB, because its search index is a file that pages read from disk, `-W` stops at a broken link
or anchor, autodoc reads our typed Google docstrings, notebooks with stored outputs are pages, and all parts are
maintained. Material for MkDocs has an announced end of life (May 2027); Zensical, its successor, calls its support of
API pages preliminary and has none for notebooks.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pygments.lexers.special import TextLexer

from penchant._version import __version__

if TYPE_CHECKING:
    from sphinx.application import Sphinx

project = "penchant"
author = "The penchant authors"
copyright = author
version = release = __version__
language = "en"

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton", "sphinx_design"]
exclude_patterns = ["*.template.md", "__pycache__", "**/.ipynb_checkpoints"]

myst_heading_anchors = 4
myst_links_external_new_tab = False
nb_execution_mode = "off"  # notebooks are executed when they are written; their stored outputs are shown
nb_mime_priority_overrides = [("html", "image/svg+xml", 1), ("html", "image/png", 2)]  # charts without scripts

html_theme = "furo"
html_title = "penchant"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_favicon = html_logo = "_static/penchant.svg"
html_copy_source = html_show_sourcelink = False
html_show_sphinx = False
html_show_search_summary = False  # would fetch pages, which a browser refuses to pages read from disk

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
napoleon_preprocess_types = False
smartquotes = False
# Types of polars, torch and Python, and those of ours that no page describes, are named without a link.
nitpick_ignore_regex = [(r"py:.*", r".*")]

LINKS = {
    r"\]\(\.\./README\.md(#two-commands)?": "](index.md",
    r"\]\(\.\./bench/README\.md": "](benchmarks.md",
    r"\]\(\.\./docs/": "](",
}
"""Links that mean a page on the site: they keep their form for readers of the repository."""


def _link_pages(app: Sphinx, name: str, source: list[str]) -> None:
    """Write the links of a page as the site needs them; other files of the repository are copied, to be read there."""
    for link, target in LINKS.items():
        source[0] = re.sub(link, target, source[0])
    outside = re.escape("../" * (name.count("/") + 1))
    source[0] = re.sub(rf"\]\(({outside}[^)]+\.md)\)", r"](path:\1)", source[0])


def _literals(app: Sphinx, what: str, name: str, described: object, options: object, lines: list[str]) -> None:
    """Make a docstring plain text for reStructuredText: only what stands between backticks is marked."""
    parts = re.split(r"`([^`]+)`", "\n".join(lines))
    marked = (rf"\ ``{part}``\ " if at % 2 else re.sub(r"[*|]", r"\\\g<0>", part) for at, part in enumerate(parts))
    lines[:] = "".join(marked).split("\n")


def _signature(
    app: Sphinx, what: str, name: str, described: object, options: object, signature: str | None, returns: str | None
) -> tuple[str | None, str | None]:
    """Name types without their modules, and leave out what a subclass of a frame takes from polars."""
    if "FrameInitTypes" in (signature or ""):
        return "", None
    short = [text and re.sub(r"~?\b(?:[a-z_]\w*\.)+(?=[A-Za-z_])", "", text) for text in (signature, returns)]
    return short[0], short[1]


def _accessible(app: Sphinx, name: str, template: str, context: dict[str, Any], doctree: object) -> None:
    """Let boxes that scroll be reached with the keyboard, and give the captions of the sidebar a level."""
    tree = context.get("furo_navigation_tree", "")
    context["furo_navigation_tree"] = tree.replace('role="heading"', 'role="heading" aria-level="2"')
    for box in ('<div class="table-wrapper', "<pre>"):
        context["body"] = context.get("body", "").replace(box, f'{box[:4]} tabindex="0"{box[4:]}')


def setup(app: Sphinx) -> None:
    app.connect("autodoc-process-signature", _signature)
    app.connect("html-page-context", _accessible, priority=900)  # after Furo has wrapped the tables
    app.connect("autodoc-process-docstring", _literals, priority=400)  # before napoleon reads the sections
    app.add_lexer("csv", TextLexer)
    app.connect("source-read", _link_pages)
    app.connect("include-read", lambda app, path, name, source: _link_pages(app, name, source))
