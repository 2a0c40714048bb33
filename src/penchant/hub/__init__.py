"""Access to models and data sets on the Hugging Face hub: pinned commits, checked files, and one-line errors."""
