"""DisCo: the words that a model fills into sentences about persons of two genders (Webster et al. 2020)."""
