"""BBQ: answers to questions about two groups, with and without the information that decides them."""
