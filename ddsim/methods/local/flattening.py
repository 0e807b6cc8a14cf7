"""The protocol rewritten for the compiler: all of its arrays in one of integers and one of reals.

To numba an array is seven values or more, and a state of fifty arrays is several hundred, which
every call would copy and every function unpack: that is where compiling spent its time. The rules
are written for named arrays; here their source is read, and `s.slot[row, STAGE]` becomes the place
in the one array at which that item stands. What has a size that never changes stands at fixed
places, where the rest begins and how long its rows are is looked up.
"""

from __future__ import annotations

import ast
import inspect
import sys
from hashlib import sha256
from importlib.abc import InspectLoader
from importlib.util import module_from_spec, spec_from_loader
from typing import TYPE_CHECKING, Any

import numpy as np

from ddsim.methods.local import protocol as k

if TYPE_CHECKING:
    from types import CodeType, ModuleType

    from ddsim.methods.local.protocol import State

# How many columns each has whose number never changes, and how many items where that is all.
COLUMNS = {
    "learner": k.LEARNER_COLUMNS,
    "pace": k.PACE_COLUMNS,
    "slot": k.SLOT_COLUMNS,
    "queue": 5,
    "turns": 3,
    "presence": 6,
}
FIXED = {"time": k.TIMES, "number": k.NUMBERS, "real": k.REALS}
INTS, REALS = "ints", "reals"
_OF_FIELD = 4  # where an array begins, and its dimensions


class Layout:
    """Where in the two arrays everything stands: `of[field]` is its array, and its fixed place."""

    def __init__(self, state: State) -> None:
        self.of = {
            name: INTS if array.dtype == np.int64 else REALS
            for name, array in zip(state._fields, state, strict=True)
        }
        self.number = {name: _OF_FIELD * place for place, name in enumerate(state._fields)}
        self.place: dict[str, int] = {}
        begins = {INTS: _OF_FIELD * len(state._fields), REALS: 0}
        for name, size in FIXED.items():
            which = self.of[name]
            self.place[name] = begins[which]
            begins[which] += size
        for name in ("learner", "pace"):  # the first of what has a size of its own
            self.place[name] = begins[self.of[name]]
        self._first = [*FIXED, "learner", "pace"]
        self._head = _OF_FIELD * len(state._fields)

    def pack(self, state: State) -> tuple[tuple[Any, Any], State]:
        """Return the two arrays with what the state holds, and a state that is made of their parts.

        Both are the same memory.
        """
        names = [*self._first, *(name for name in state._fields if name not in self._first)]
        arrays = {name: np.asarray(getattr(state, name)) for name in names}
        begins: dict[str, int] = {}
        filled = {INTS: self._head, REALS: 0}
        for name in names:
            array, which = arrays[name], self.of[name]
            assert array.shape[-1] == COLUMNS.get(name, FIXED.get(name, array.shape[-1])), name
            assert self.place.get(name, filled[which]) == filled[which], name
            begins[name] = filled[which]
            filled[which] += array.size
        buffers = {
            INTS: np.zeros(filled[INTS], np.int64),
            REALS: np.zeros(filled[REALS], np.float64),
        }
        parts: dict[str, Any] = {}
        for name in names:
            array, start = arrays[name], begins[name]
            part = buffers[self.of[name]][start : start + array.size].reshape(array.shape)
            part[...] = array
            parts[name] = part
            head = self.number[name]
            buffers[INTS][head] = start
            buffers[INTS][head + 1 : head + 1 + array.ndim] = array.shape
        return (buffers[INTS], buffers[REALS]), type(state)(**parts)

    def dimension(self, name: str, axis: int) -> ast.expr:
        """Return the code for how long an array is along an axis."""
        return _item(INTS, ast.Constant(self.number[name] + 1 + axis), ast.Load())

    def index(self, name: str, indices: list[ast.expr]) -> ast.expr:
        """Return the code for where an item of an array stands."""
        at: ast.expr = indices[0]
        for axis, index in enumerate(indices[1:], 1):
            last = axis == len(indices) - 1
            known = COLUMNS.get(name) if last else None
            length = self.dimension(name, axis) if known is None else ast.Constant(known)
            at = ast.BinOp(ast.BinOp(at, ast.Mult(), length), ast.Add(), index)
        place = self.place.get(name)
        begins = (
            _item(INTS, ast.Constant(self.number[name]), ast.Load())
            if place is None
            else ast.Constant(place)
        )
        return ast.BinOp(begins, ast.Add(), at)


def _item(array: str, index: ast.expr, context: ast.expr_context) -> ast.expr:
    return ast.Subscript(ast.Name(array, ast.Load()), index, context)


class Flatten(ast.NodeTransformer):
    """Rewrites functions of a state `s` as functions of its two arrays."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout

    def _field(self, node: ast.expr) -> str | None:
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            return node.attr if node.value.id == "s" else None
        return None

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        """Take the two arrays in place of the state."""
        node.returns = None
        given = [argument.arg for argument in node.args.args]
        names = [name for one in given for name in ((INTS, REALS) if one == "s" else (one,))]
        node.args.args = [ast.arg(name) for name in names]
        self.generic_visit(node)
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """Pass both arrays on; a length is looked up."""
        if isinstance(node.func, ast.Name) and node.func.id == "len":
            name = self._field(node.args[0])
            if name is not None:
                return self._layout.dimension(name, 0)
        self.generic_visit(node)
        given: list[ast.expr] = []
        for one in node.args:
            if isinstance(one, ast.Name) and one.id == "s":
                given += [ast.Name(INTS, ast.Load()), ast.Name(REALS, ast.Load())]
            else:
                given.append(one)
        node.args = given
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        """Find an item's place, or a dimension of an array."""
        value, index = node.value, node.slice
        if isinstance(value, ast.Attribute) and value.attr == "shape":
            name = self._field(value.value)
            assert name is not None
            assert isinstance(index, ast.Constant)
            assert isinstance(index.value, int)
            return self._layout.dimension(name, index.value)
        name = self._field(value)
        if name is None:
            self.generic_visit(node)
            return node
        indices = index.elts if isinstance(index, ast.Tuple) else [index]
        visited = [self.visit(item) for item in indices]
        return _item(self._layout.of[name], self._layout.index(name, visited), node.ctx)


class FlatProtocol(InspectLoader):
    """Loads the protocol's own source with every function rewritten; `path` is where it stands."""

    def __init__(self, layout: Layout, path: str) -> None:
        self._layout = layout
        self._path = path

    def get_source(self, fullname: str) -> str:
        """Return the source as people read it."""
        return inspect.getsource(k)

    def source_to_code(self, data: Any, path: Any = "") -> CodeType:  # type: ignore[override]
        """Compile what is made of it.

        numba keeps what it compiles of a file under the names of its functions, so that `advance`
        has another one for every text.
        """
        tree = Flatten(self._layout).visit(ast.parse(data))
        functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
        text = ast.unparse(ast.Module([*functions], []))
        (advance,) = (node for node in functions if node.name == "advance")
        advance.name = f"advance_{sha256(text.encode()).hexdigest()[:12]}"
        tree.body.append(ast.parse(f"advance = {advance.name}").body[0])
        return compile(ast.fix_missing_locations(tree), self._path, "exec")


def flat_protocol(layout: Layout) -> ModuleType:
    """Return the protocol as a module whose functions take the two arrays in place of a state.

    They stand where the rules stand, so that numba keeps what it compiles of them beside those.
    """
    name = f"{k.__name__}_flat"
    spec = spec_from_loader(name, FlatProtocol(layout, k.__file__))
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
