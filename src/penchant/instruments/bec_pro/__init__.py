"""Tables with a sentence whose person is masked, and the same with the attribute masked too (Bartl et al. 2020)."""
