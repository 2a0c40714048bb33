"""Agreement with value statements, compared with the answers to a survey."""
