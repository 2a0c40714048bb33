"""What a model fills in after words for persons of two genders (DisCo, Webster et al. 2020)."""
