"""Amplification: the associations of a model compared with those of the text that it was trained on."""
