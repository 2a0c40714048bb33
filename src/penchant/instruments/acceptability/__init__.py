"""Judgements of sentences: how closely the scores of a model go with what people find acceptable."""
