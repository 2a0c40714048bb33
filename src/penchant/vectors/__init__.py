"""Static word vectors: reading, saving, training and evaluation."""
