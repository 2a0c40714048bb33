"""word2vec: word vectors that predict context words (Mikolov et al. 2013), trained with gensim."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from penchant.errors import MethodError, missing_package
from penchant.vectors.token_file import Integers, TokenFile, Trained, read_tokens, refuse_below

_LONGEST = 10_000
"""Maximum number of words of a sentence used by gensim, which silently ignores the rest (MAX_WORDS_IN_BATCH)."""
_SEEDS = 1 << 32


@dataclass(frozen=True, slots=True)
class Word2Vec:
    """word2vec training: skip-gram, or continuous bag of words (`skip_gram=False`), with negative sampling.

    `negative` is the number of negative samples per observed word. As in the original program, words with a relative
    frequency above `sample` are dropped at random, the window of every token is drawn between 1 and `window`, and the
    learning rate decreases from 0.025 to 0.0001. Out-of-vocabulary tokens are removed first and do not add to
    distances. Sentences of more than 10,000 tokens are split into parts of that length.

    With one worker, the same seed gives the same vectors; with several, the order of the threads' updates varies.
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
            raise MethodError(f"sample must be at least 0 and below 1, got {self.sample}", hint="0 drops no words")
        if self.seed >= _SEEDS:
            raise MethodError(f"the seed must be below {_SEEDS}, got {self.seed}")

    def train(self, tokens: str | Path, progress: Callable[[float], None] = lambda share: None) -> Trained:
        """Return vectors trained on a token file.

        `progress` is called after each epoch, with the epoch's fraction of the work. `losses` is empty, since gensim's
        losses are imprecise. Raises DataError if the file is invalid, and MethodError if gensim is missing.
        """
        try:
            from gensim.models import Word2Vec as Gensim
            from gensim.models.callbacks import CallbackAny2Vec
        except ImportError as error:
            raise missing_package("gensim", "vectors", error) from error

        class Report(CallbackAny2Vec):  # type: ignore[misc]
            def on_epoch_end(callback, model: Gensim) -> None:  # noqa: N805
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
            sorted_vocab=0,  # it is sorted already, and gensim orders equal counts differently
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
    """Iterable over the sentences of a corpus as lists of words; it can be iterated repeatedly."""

    def __init__(self, corpus: TokenFile) -> None:
        self.words: Sequence[str] = corpus.words
        self.ids: Integers = corpus.ids
        self.ends = np.cumsum(corpus.lengths)

    def __iter__(self) -> Iterator[list[str]]:
        start = 0
        for end in self.ends.tolist():
            for begin in range(start, end, _LONGEST):
                yield [self.words[i] for i in self.ids[begin : min(begin + _LONGEST, end)].tolist()]
            start = end
