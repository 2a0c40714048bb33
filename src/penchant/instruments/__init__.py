"""The instruments, a folder each, and what they have in common."""
