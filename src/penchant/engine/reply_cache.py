"""Persistent cache of a model's sampled replies, in the same file as its answers."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

from penchant.engine.answer_cache import CacheFile, checksum


class ReplyCache(CacheFile):
    """The cached replies of one model. Damaged replies are sampled again."""

    table = "replies"

    def found(self, keys: Sequence[bytes]) -> dict[bytes, str]:
        """Return a dict that maps each of the `keys` that are stored to its reply."""
        own = {self._key(key): key for key in keys}
        found: dict[bytes, str] = {}
        listed = list(own)
        for start in range(0, len(listed), 500):
            bad = []
            for key, answer, stored in self._read(listed[start : start + 500]):
                try:
                    if key not in own or stored != checksum(key, answer):
                        raise ValueError
                    found[own[key]] = answer.decode()
                except (TypeError, ValueError, AttributeError):
                    bad.append(key)
            if bad:
                self._drop(bad)
        return found

    def store(self, replies: Mapping[bytes, str]) -> None:
        """Write replies to the file, in one transaction."""
        self._insert([(self._key(key), text.encode()) for key, text in replies.items()])

    def _key(self, key: bytes) -> bytes:
        return hashlib.blake2b(self._space + b"|reply|" + key, digest_size=16).digest()
