"""Acceptability: the agreement of a model's scores with people's judgements of sentences."""
