"""Grammars of minimal pairs: features, lexicon, paradigms, and the generation of pairs."""
