"""WinoBias and Winogender: which pronoun does a model prefer beside an occupation?"""
