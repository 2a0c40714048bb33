"""WinoBias and Winogender: the pronouns that a model prefers next to an occupation."""
