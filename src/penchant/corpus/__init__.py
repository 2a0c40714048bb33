"""Running text: sampling and counting sentences that contain stimuli, and training word vectors."""
