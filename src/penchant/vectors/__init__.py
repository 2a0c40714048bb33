"""Static word vectors: read, saved, trained and tested."""
