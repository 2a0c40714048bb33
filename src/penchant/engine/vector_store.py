"""Store of contextual vectors on disk, so that each word in a sentence is computed only once."""

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

from penchant.engine.token_spans import Place, Pooling, Span, resolved_layers
from penchant.errors import CacheError, ModelError
from penchant.files import write_bytes, write_json
from penchant.models.file_hashes import stamp

if TYPE_CHECKING:
    from penchant.engine.scorer import Scorer
    from penchant.models.load import LanguageModel

FORMAT = 2
"""The version of stored vectors, raised when newly computed vectors would differ."""

CHUNK = 2048
"""The number of places in a part, which is the most that an interruption loses."""

MOST = 1 << 16
"""The number of places that `add` accepts at once; polars splits larger tables, which cannot be mapped as one."""


def space(model: LanguageModel, layers: tuple[int, ...], pieces: Pooling) -> str:
    """Return a name for everything that vectors depend on: model, tokenizer, number format, layers and pooling."""
    numbers = ", ".join(map(str, resolved_layers(model, layers)))
    read = f"model {model.fingerprint}, tokenizer {model.tokenizer.digest}, {model.dtype}"
    return f"{read}, layers {numbers} of {model.network.layers}, pieces {pieces}"


def key(text: str, span: Span) -> bytes:
    """Return the key of a word in a text: 16 bytes."""
    digest = hashlib.blake2b(f"{span[0]}|{span[1]}|".encode(), digest_size=16)
    digest.update(text.encode("utf-8", "surrogatepass"))
    return digest.digest()


class VectorStore:
    """The vectors of one space (see `space`) in a folder that several processes may share.

    Its parts are Arrow IPC files with the columns `key` (16 bytes) and `vector` (float16, layers × d), each written
    once; the name of a part holds the hash of its content and the byte at which the vectors begin. Opening a store
    verifies every file and maps the vectors into memory. Raises CacheError, naming the file, when one is damaged or of
    another format.
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
        """Return the distinct keys not in the store, in order, after reading parts that other processes wrote."""
        self._refresh()
        distinct = list(dict.fromkeys(keys))
        return [distinct[i] for i in np.flatnonzero(self._positions(_bytes(distinct)) < 0)]

    def add(self, keys: Sequence[bytes], vectors: NDArray[np.float16]) -> None:
        """Write vectors (n, layers, d), all finite, as one part. Raises OutputError and leaves no partial file."""
        if not 0 < len(keys) <= MOST:
            raise ValueError(f"{len(keys)} vectors are not 1 to {MOST}")
        if vectors.dtype != np.float16 or vectors.ndim != 3 or len(vectors) != len(keys):
            raise ValueError(f"{vectors.dtype} vectors of shape {vectors.shape} for {len(keys)} keys")
        buffer = io.BytesIO()
        frame = pl.DataFrame({"key": _bytes(keys).view(np.uint8).reshape(-1, 16), "vector": vectors})
        frame.write_ipc(buffer, compression="uncompressed")
        data = buffer.getvalue()
        begin = data.index(np.ascontiguousarray(vectors).tobytes())
        name = f"{_digest(data)}-{begin}.arrow"
        write_bytes(data, self.folder / name)
        self._take([name])

    def fetch(self, keys: Sequence[bytes]) -> NDArray[np.float16]:
        """Return the vectors (n, layers, d) of keys, which may repeat. Raises CacheError for a missing key."""
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
                raise _broken(self.folder / name, "it changed while it was in use")
        return vectors

    def __len__(self) -> int:
        return len(self._keys)

    def _check_meta(self, meta: dict[str, object]) -> None:
        """Check that the folder is a store of this space and format, or mark a new one as such."""
        path = self.folder / "meta.json"
        try:
            stored = json.loads(path.read_text("utf-8"))
        except FileNotFoundError:
            write_json(meta, path)
            return
        except (OSError, ValueError) as error:
            raise _broken(path, error) from error
        if stored != meta:
            raise _broken(path, f"it was not made for '{self.space}', format {FORMAT}")

    def _refresh(self) -> None:
        try:
            names = sorted(path.name for path in self.folder.iterdir() if path.suffix == ".arrow")
        except OSError as error:
            raise _broken(self.folder, error) from error
        self._take(names)

    def _take(self, names: Iterable[str]) -> None:
        """Map the parts that are not known yet and add their keys to the index."""
        keys, rows = [], []
        for name in names:
            if name in self._known:
                continue
            before = stamp(self.folder / name)
            part_keys, vectors = _part(self.folder / name)
            if self._parts and vectors.shape[1:] != self._parts[0].shape[1:]:
                raise _broken(self.folder / name, "its vectors have another shape")
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
        """Return the position of each key in the index, −1 for a missing key."""
        if not len(self._keys):
            return np.full(len(keys), -1)
        at = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        return np.where(self._keys[at] == keys, at, -1)


def _part(path: Path) -> tuple[NDArray[np.bytes_], NDArray[np.float16]]:
    """Read the keys of a part, and map its vectors into memory. Raises CacheError if the file is damaged."""
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
            raise ValueError("its vectors are of another type or shape")
        mapped = np.memmap(path, np.float16, "r", int(begin), vectors.shape)
        if mapped.tobytes() != vectors.tobytes():
            raise ValueError("its name says that its vectors begin elsewhere")
        return keys, mapped
    except (OSError, ValueError, TypeError, OverflowError, pl.exceptions.PolarsError) as error:
        raise _broken(path, error) from error


def _broken(path: Path, reason: object) -> CacheError:
    return CacheError(
        f"cannot be used as a store of vectors ({reason})",
        where=str(path),
        hint="delete it; its vectors will be computed again",
    )


def _bytes(keys: Sequence[bytes]) -> NDArray[np.bytes_]:
    return np.array(keys, dtype="S16")


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Collected:
    """The number of distinct places already in the store, and the number computed."""

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
    """Fill the store with the vectors of all places, computing only the missing ones (see `Scorer.word_vectors`).

    `progress` is called with the number of places that need no run; the scorer's own progress reports the others.
    Raises DataError for a place that cannot be read, ModelError for a vector that float16 cannot hold.
    """
    if store.space != space(scorer.model, layers, pieces):
        raise CacheError(
            f"the store is for {store.space}, not for {space(scorer.model, layers, pieces)}", where=str(store.folder)
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
    """Yield chunks of about `CHUNK` places, keeping those of one text together, so that it is run once."""
    chunk: list[Place] = []
    for _, of_text in groupby(sorted(places), key=itemgetter(0)):
        if len(chunk) >= CHUNK:
            yield chunk
            chunk = []
        chunk.extend(of_text)
    if chunk:
        yield chunk


def _as_float16(vector: NDArray[np.float32], layers: tuple[int, ...], place: Place) -> NDArray[np.float16]:
    """Return the vector (layers, d) in float16. Raises ModelError for a value too large for it."""
    with np.errstate(over="ignore"):
        half = vector.astype(np.float16)
    for layer, before, after in zip(layers, vector, half, strict=True):
        if not np.isfinite(after).all():
            text, (start, end), where = place
            value = before[~np.isfinite(after)][0]
            raise ModelError(
                f"layer {layer} of '{text[start:end]}' has the value {value:g}, which float16 cannot hold",
                where=where,
                hint="leave that layer out",
            )
    return half
