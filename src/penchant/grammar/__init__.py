"""Grammars of minimal pairs: features, lexicon, paradigms, and drawing pairs from them."""
