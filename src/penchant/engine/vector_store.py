"""Store of contextual vectors on disk, so that the vector of a word in a sentence is computed only once."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from penchant.engine.word_tokens import Place, Pooling, Span, resolved_layers
from penchant.errors import CacheError, ModelError
from penchant.files import write_bytes, write_json
from penchant.models.file_hashes import stamp

if TYPE_CHECKING:
    from penchant.engine.scorer import Scorer
    from penchant.models.load import LanguageModel

FORMAT = 2
"""Version of stored vectors, increased whenever newly computed vectors would differ from stored ones."""

CHUNK = 2048
"""Approximate number of vectors written at once, and thus the number lost by an interruption."""

MOST = 1 << 16
"""Maximum number of vectors that `add` accepts; polars splits larger tables, which cannot be mapped as one array."""


def space(model: LanguageModel, layers: tuple[int, ...], pieces: Pooling) -> str:
    """Return an identifier of a vector space: its model, tokenizer, number format, layers and pooling (`pieces`)."""
    numbers = ", ".join(map(str, resolved_layers(model, layers)))
    read = f"model {model.fingerprint}, tokenizer {model.tokenizer.digest}, {model.dtype}"
    return f"{read}, layers {numbers} of {model.network.layers}, pieces {pieces}"


def key(text: str, span: Span) -> bytes:
    """Return the key (16 bytes) of the word at a span in a text."""
    digest = hashlib.blake2b(f"{span[0]}|{span[1]}|".encode(), digest_size=16)
    digest.update(text.encode("utf-8", "surrogatepass"))
    return digest.digest()


class VectorStore:
    """The vectors of one space (see `space`), in a folder that several processes may share.

    The parts of a store are Arrow IPC files with the columns `key` (16 bytes) and `vector` (float16, layers × d), each
    written once. The name of a part contains the hash of its content and the byte offset of its vectors. Opening a
    store verifies all files and maps their vectors into memory. Raises CacheError if a file is damaged or has another
    format.
    """

    def __init__(self, folder: str | Path, space: str) -> None:
        self.space = space
        self.folder = Path(folder) / hashlib.blake2b(space.encode(), digest_size=8).hexdigest()
        self._parts: list[NDArray[np.float16]] = []
        self._known: dict[str, str] = {}  # the file of each part and its stamp, which shows changes
        self._keys = np.empty(0, dtype="S16")  # sorted, without duplicates
        self._rows = np.empty((0, 2), dtype=np.int32)  # the part of each key, and its row there
        self._check_meta({"format": FORMAT, "space": space})
        self._refresh()

    def missing(self, keys: Iterable[bytes]) -> list[bytes]:
        """Return the distinct keys not in the store, in the given order.

        Parts that other processes have added to the store are loaded first.
        """
        self._refresh()
        distinct = list(dict.fromkeys(keys))
        return [distinct[i] for i in np.flatnonzero(self._positions(_bytes(distinct)) < 0)]

    def add(self, keys: Sequence[bytes], vectors: NDArray[np.float16]) -> None:
        """Write finite vectors (n, layers, d) as one part.

        Raises OutputError if the part cannot be written; no partial file is left.
        """
        if not 0 < len(keys) <= MOST:
            raise ValueError(f"expected 1 to {MOST} vectors, got {len(keys)}")
        if vectors.dtype != np.float16 or vectors.ndim != 3 or len(vectors) != len(keys):
            raise ValueError(
                f"expected float16 vectors ({len(keys)}, layers, d), got {vectors.dtype} of shape {vectors.shape}"
            )
        buffer = io.BytesIO()
        frame = pl.DataFrame({"key": _bytes(keys).view(np.uint8).reshape(-1, 16), "vector": vectors})
        frame.write_ipc(buffer, compression="uncompressed")
        data = buffer.getvalue()
        begin = data.index(np.ascontiguousarray(vectors).tobytes())
        name = f"{_digest(data)}-{begin}.arrow"
        write_bytes(data, self.folder / name)
        self._take([name])

    def fetch(self, keys: Sequence[bytes]) -> NDArray[np.float16]:
        """Return the vectors (n, layers, d) of keys, which may repeat. Raises CacheError if a key is missing."""
        positions = self._positions(_bytes(keys))
        if (positions < 0).any():
            raise CacheError(
                f"{int((positions < 0).sum())} of {len(keys)} vectors are not in the store", where=str(self.folder)
            )
        part, row = self._rows[positions].T
        shape = self._parts[0].shape[1:] if self._parts else (0, 0)
        vectors = np.empty((len(keys), *shape), dtype=np.float16)
        files = list(self._known.items())
        for number in np.unique(part):
            in_part = np.flatnonzero(part == number)
            vectors[in_part] = self._parts[number][row[in_part]]
            name, before = files[number]
            if stamp(self.folder / name) != before:
                raise _broken(self.folder / name, "the file changed while it was in use")
        return vectors

    def __len__(self) -> int:
        return len(self._keys)

    def _check_meta(self, meta: dict[str, object]) -> None:
        """Write the metadata of a new store, or compare the metadata of an existing store with `meta`.

        Raises CacheError if they differ.
        """
        path = self.folder / "meta.json"
        try:
            stored = json.loads(path.read_text("utf-8"))
        except FileNotFoundError:
            write_json(meta, path)
            return
        except (OSError, ValueError) as error:
            raise _broken(path, error) from error
        if stored != meta:
            raise _broken(path, f"it was not written for '{self.space}', format {FORMAT}")

    def _refresh(self) -> None:
        try:
            names = sorted(path.name for path in self.folder.iterdir() if path.suffix == ".arrow")
        except OSError as error:
            raise _broken(self.folder, error) from error
        self._take(names)

    def _take(self, names: Iterable[str]) -> None:
        """Map new parts' vectors into memory and index their keys. Raises CacheError if a part is unusable."""
        keys, rows = [], []
        for name in names:
            if name in self._known:
                continue
            before = stamp(self.folder / name)
            part_keys, vectors = _part(self.folder / name)
            if self._parts and vectors.shape[1:] != self._parts[0].shape[1:]:
                raise _broken(self.folder / name, "its vectors and the vectors of other parts differ in shape")
            keys.append(part_keys)
            part_rows = np.arange(len(part_keys))
            rows.append(np.stack([np.full(len(part_keys), len(self._parts)), part_rows], axis=1))
            self._parts.append(vectors)
            self._known[name] = before
        if keys:
            joined, first = np.unique(np.concatenate(keys), return_index=True)
            new = self._positions(joined) < 0
            at = np.searchsorted(self._keys, joined[new])
            self._keys = np.insert(self._keys, at, joined[new])
            self._rows = np.insert(self._rows, at, np.concatenate(rows)[first][new], axis=0)

    def _positions(self, keys: NDArray[np.bytes_]) -> NDArray[np.int64]:
        if not len(self._keys):
            return np.full(len(keys), -1)
        at = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        return np.where(self._keys[at] == keys, at, -1)


def _part(path: Path) -> tuple[NDArray[np.bytes_], NDArray[np.float16]]:
    """Return a part's keys, and its vectors mapped into memory. Raises CacheError if the file is damaged."""
    try:
        digest, _, begin = path.stem.partition("-")
        data = path.read_bytes()
        if _digest(data) != digest:
            raise ValueError("its content does not match its name")
        frame = pl.read_ipc(data)
        # Copied, so that the keys do not hold the rest of the part in memory.
        keys = frame["key"].to_numpy().view("S16").ravel().copy()
        vectors = frame["vector"].to_numpy()
        if vectors.dtype != np.float16 or vectors.ndim != 3:
            raise ValueError("its vectors are not float16 numbers in three dimensions")
        mapped = np.memmap(path, np.float16, "r", int(begin), vectors.shape)
        if mapped.tobytes() != vectors.tobytes():
            raise ValueError("the byte offset in its name is wrong")
        return keys, mapped
    except (OSError, ValueError, TypeError, OverflowError, pl.exceptions.PolarsError) as error:
        raise _broken(path, error) from error


def _broken(path: Path, reason: object) -> CacheError:
    return CacheError(
        f"cannot be used as a vector store ({reason})",
        where=str(path),
        hint="delete the file; its vectors will be computed again",
    )


def _bytes(keys: Sequence[bytes]) -> NDArray[np.bytes_]:
    return np.array(keys, dtype="S16")


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Collected:
    """Numbers of distinct words whose vectors were already in the store (`stored`) or were computed (`computed`)."""

    stored: int
    computed: int


def collect(
    scorer: Scorer,
    store: VectorStore,
    places: Iterable[Place],
    *,
    layers: tuple[int, ...] = (-1,),
    pieces: Pooling = "mean",
    progress: Callable[[int], None] | None = None,
) -> Collected:
    """Add the vector of the word at each (text, span, location) to the store; compute only missing vectors.

    `layers` and `pieces` are the layers and the pooling, as in `Scorer.word_vectors`.
    `progress` is called once with the number of words whose vectors need not be computed; the scorer's own progress
    covers the other words. Raises CacheError if the store is for another space, DataError if a word has no vector,
    ModelError if a vector cannot be represented in float16.
    """
    if store.space != space(scorer.model, layers, pieces):
        raise CacheError(
            f"contains vectors of {store.space}, not of {space(scorer.model, layers, pieces)}", where=str(store.folder)
        )
    total = 0
    distinct: dict[bytes, Place] = {}
    for place in places:
        total += 1
        distinct.setdefault(key(place[0], place[1]), place)
    missing = [distinct[name] for name in store.missing(distinct)]
    if progress:
        progress(total - len(missing))
    for chunk in _chunks(missing):
        vectors = scorer.word_vectors(chunk, layers=layers, pieces=pieces)
        halves = [_as_float16(vector, layers, place) for vector, place in zip(vectors, chunk, strict=True)]
        store.add([key(text, span) for text, span, _ in chunk], np.stack(halves))
    return Collected(len(distinct) - len(missing), len(missing))


def _chunks(places: list[Place]) -> Iterator[list[Place]]:
    """Yield chunks of about `CHUNK` words, with all words of a text in one chunk, so that the text is run once."""
    chunk: list[Place] = []
    for _, of_text in groupby(sorted(places), key=itemgetter(0)):
        if len(chunk) >= CHUNK:
            yield chunk
            chunk = []
        chunk.extend(of_text)
    if chunk:
        yield chunk


def _as_float16(vector: NDArray[np.float32], layers: tuple[int, ...], place: Place) -> NDArray[np.float16]:
    """Return the vector (layers, d) in float16. Raises ModelError if a value is too large for float16."""
    with np.errstate(over="ignore"):
        half = vector.astype(np.float16)
    for layer, before, after in zip(layers, vector, half, strict=True):
        if not np.isfinite(after).all():
            text, (start, end), where = place
            value = before[~np.isfinite(after)][0]
            raise ModelError(
                f"layer {layer} of '{text[start:end]}' contains the value {value:g}, which is too large for float16",
                where=where,
                hint=f"omit layer {layer}",
            )
    return half
