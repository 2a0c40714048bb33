"""Value statements, compared with a survey."""
