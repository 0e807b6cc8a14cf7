"""A training's state as arrays and JSON in one archive: whoever reads it runs nothing of it."""

from __future__ import annotations

import io
import json
from typing import Any

import numpy as np
import numpy.typing as npt

_NAME = "arr_{}"  # what numpy calls the arrays of an archive; the first is the tree
_ARRAY, _TUPLE, _PAIRS = "array", "tuple", "pairs"
_NUMBERS = "fiub"  # kinds of dtypes that hold numbers alone


def pack(state: Any) -> bytes:
    """Return a state of dicts, lists, tuples, plain values and arrays of numbers as an archive.

    Raises TypeError for anything else in it.
    """
    arrays: list[npt.NDArray[Any]] = []
    tree = json.dumps(_flat(state, arrays)).encode()
    content = io.BytesIO()
    np.savez(content, np.frombuffer(tree, np.uint8), *arrays)
    return content.getvalue()


def unpack(content: bytes) -> Any:
    """Return the state that `pack` made an archive of.

    Raises ValueError for whatever else the bytes may be.
    """
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as archive:
            return _built(json.loads(archive[_NAME.format(0)].tobytes()), archive)
    except Exception as error:  # zipfile, zlib, numpy and json each have errors of their own
        raise ValueError(f"not a training's state ({type(error).__name__})") from error


def _flat(value: Any, arrays: list[npt.NDArray[Any]]) -> Any:
    """Return a value as JSON knows it, with the numbers of its arrays, which are put aside."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.ndarray) and value.dtype.kind in _NUMBERS:
        arrays.append(value)
        return {_ARRAY: len(arrays)}
    if isinstance(value, dict):  # whose keys need not be texts
        return {_PAIRS: [[_flat(k, arrays), _flat(v, arrays)] for k, v in value.items()]}
    if isinstance(value, list | tuple):
        items = [_flat(item, arrays) for item in value]
        return items if isinstance(value, list) else {_TUPLE: items}
    raise TypeError(f"a state holds no {type(value).__name__}")


def _built(value: Any, archive: Any) -> Any:
    if isinstance(value, list):
        return [_built(item, archive) for item in value]
    if not isinstance(value, dict):
        return value
    ((kind, content),) = value.items()
    if kind == _ARRAY:
        return archive[_NAME.format(content)]
    if kind == _TUPLE:
        return tuple(_built(item, archive) for item in content)
    if kind == _PAIRS:
        return {_built(key, archive): _built(item, archive) for key, item in content}
    raise ValueError(f"a state holds no {kind}")


def fitting(found: Any, own: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return an array that was read, if it is one like `own`; ValueError where it is not."""
    if not isinstance(found, np.ndarray) or (found.shape, found.dtype) != (own.shape, own.dtype):
        raise ValueError(f"no array of shape {own.shape}")
    return found
