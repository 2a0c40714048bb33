"""RND, RNSB, MAC, ECT and RIPA: measures of bias in static word vectors."""
