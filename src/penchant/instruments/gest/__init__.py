"""GEST: the gender that a model ascribes to the speaker of a stereotypical sentence (Pikuliak et al. 2024)."""
