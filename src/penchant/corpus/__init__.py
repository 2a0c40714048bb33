"""Running text: sentences that hold stimuli, sampled and counted, and word vectors trained on it."""
