"""penchant measures what a language model is inclined to say.

    import penchant as pc
    lm  = pc.load("bert-base-uncased")
    tab = pc.score(lm, ["The cats sleep."], method="pll")
    res = pc.MinimalPairs(data="blimp/inchoative.jsonl").run(lm)

The public names are those of `__init__.pyi`. They are imported when they are first used, so that `import penchant` is
quick and loads no torch.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
