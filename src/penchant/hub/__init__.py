"""Access to models and data sets on the Hugging Face hub: pinned commits, verified files, and one-line errors."""
