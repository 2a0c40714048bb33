"""Loading of models by name: their files, weights, networks and tokenizers."""

import warnings

with warnings.catch_warnings():
    # In a notebook without ipywidgets, tqdm warns that its bars cannot be drawn; loading shows none.
    warnings.filterwarnings("ignore", "IProgress not found")
    import tqdm.auto  # type: ignore[import-untyped,unused-ignore]  # noqa: F401
