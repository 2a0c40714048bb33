"""word2vec: vectors that predict the words nearby (Mikolov et al. 2013), trained by gensim."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from penchant.errors import MethodError
from penchant.models.token_file import Corpus, Integers, Trained, missing, read_tokens, refuse_below

_LONGEST = 10_000
"""Words of a sentence that gensim trains on; it passes over the rest without a word (MAX_WORDS_IN_BATCH)."""
_SEEDS = 1 << 32


@dataclass(frozen=True, slots=True)
class Word2Vec:
    """Skip-gram, or continuous bag of words (`skip_gram=False`), with `negative` sampled words for each real one.

    Words more frequent than the share `sample` are left out at random, the window of every token is drawn between 1 and
    `window`, and the rate falls from 0.025 to 0.0001, as in the original program. Tokens outside the vocabulary are
    taken out first and do not add to a distance. Sentences are given to gensim as lists, since its own reader of files
    may lose the last ones of each epoch; one of more than 10,000 tokens is cut into pieces of so many, so that no token
    is lost, only the pairs across a cut.

    The same seed gives the same vectors with one worker; with more, threads overtake each other.
    """

    size: int = 100
    window: int = 5
    min_count: int = 5
    epochs: int = 5
    negative: int = 5
    skip_gram: bool = True
    sample: float = 1e-3
    seed: int = 0
    workers: int = 1

    def __post_init__(self) -> None:
        refuse_below(1, size=self.size, window=self.window, min_count=self.min_count, epochs=self.epochs)
        refuse_below(1, negative=self.negative, workers=self.workers)
        refuse_below(0, seed=self.seed)
        if not 0 <= self.sample < 1:
            raise MethodError(f"sample is {self.sample}", hint="it is a share: 0 (leave none out) to below 1")
        if self.seed >= _SEEDS:
            raise MethodError(f"seed is {self.seed}", hint=f"it must be below {_SEEDS}")

    def train(self, tokens: str | Path, progress: Callable[[float], None] = lambda share: None) -> Trained:
        """Vectors of the words of a token file. `progress` is given the share of the work that each epoch is.

        `losses` is empty: gensim adds them up in single precision, too coarse for more than a few million words, and
        leaves out predictions that are far off. Raises DataError for a file that cannot be used, MethodError where
        gensim is missing.
        """
        try:
            from gensim.models import Word2Vec as Gensim
            from gensim.models.callbacks import CallbackAny2Vec
        except ImportError as error:
            raise missing("gensim", error) from error

        class Report(CallbackAny2Vec):  # type: ignore[misc]
            def on_epoch_end(own, model: Gensim) -> None:  # noqa: N805
                progress(1 / self.epochs)

        corpus = read_tokens(tokens, self.min_count)
        model = Gensim(
            vector_size=self.size,
            window=self.window,
            min_count=1,
            negative=self.negative,
            sg=int(self.skip_gram),
            sample=self.sample,
            seed=self.seed,
            workers=self.workers,
            sorted_vocab=0,  # it is sorted, and gensim would order equal counts otherwise
        )
        model.build_vocab_from_freq(dict(zip(corpus.words, corpus.counts.tolist(), strict=True)))
        model.train(
            _Sentences(corpus),
            total_words=len(corpus.ids),
            epochs=self.epochs,
            callbacks=[Report()],
        )
        return Trained.on(corpus, np.asarray(model.wv.vectors, np.float32))


class _Sentences:
    """The sentences of a corpus as lists of words, as often as they are asked for."""

    def __init__(self, corpus: Corpus) -> None:
        self.words: Sequence[str] = corpus.words
        self.ids: Integers = corpus.ids
        self.ends = np.cumsum(corpus.lengths)

    def __iter__(self) -> Iterator[list[str]]:
        start = 0
        for end in self.ends.tolist():
            for begin in range(start, end, _LONGEST):
                yield [self.words[i] for i in self.ids[begin : min(begin + _LONGEST, end)].tolist()]
            start = end
