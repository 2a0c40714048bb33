"""What models and data of the Hugging Face hub have in common: one commit, checked files, and errors in one line."""
