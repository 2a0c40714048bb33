"""BEC-Pro: associations between persons and professions under a masked model (Bartl et al. 2020)."""
