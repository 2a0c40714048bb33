"""Small data as a reader would give them in Python, for the tests of calls."""

PAIRS = [("The cats sleep.", "The cats sleeps."), ("She sings.", "She sing."), ("The dog runs.", "The dog run.")]
COLUMNS = {"good": [good for good, _ in PAIRS], "bad": [bad for _, bad in PAIRS]}
LISTS = {
    "X": ["rose", "lily", "tulip"],
    "Y": ["ant", "flea", "wasp"],
    "A": ["love", "peace", "joy"],
    "B": ["pain", "hate", "war"],
}
STATEMENTS = {
    "id": ["eq1", "eq2"],
    "text": ["the rich should pay higher taxes", "everybody should fend for themselves"],
    "value": ["equity", "equity"],
    "reversed": ["no", "yes"],
}
ANSWERS = {"eq1": [1, 2, 5, 4] * 10, "eq2": [3, 3, None, 1] * 10, "sex": ["F", "M"] * 20}
