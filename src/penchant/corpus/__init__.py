"""Corpora: sampling and counting of sentences that contain stimuli, and training of word vectors."""
