"""DisCo: the words that a model fills in after persons of two genders (Webster et al. 2020)."""
