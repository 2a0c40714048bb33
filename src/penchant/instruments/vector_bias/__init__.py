"""RND, RNSB, MAC, ECT and RIPA: measures of bias on static word vectors."""
