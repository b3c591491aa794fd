"""Transfer rules of operations that move entries about: indexing, joining, inserting."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from pytensor.compile.ops import DeepCopyOp, ViewOp
from pytensor.raise_op import CheckAndRaise
from pytensor.tensor import basic as tensor_basic
from pytensor.tensor import subtensor
from pytensor.tensor.elemwise import DimShuffle
from pytensor.tensor.extra_ops import Repeat
from pytensor.tensor.shape import Reshape, SpecifyShape

from pymc_exact_hmc.model.dependence import NOT_POLYNOMIAL, Dependence, Situation
from pymc_exact_hmc.model.joins import JOINS, first_part, join
from pymc_exact_hmc.model.mixing import mix, union, unless_parameters

Array = np.ndarray

# PyTensor 2 has operations of their own for one index array.
INDEXING = tuple(
    getattr(subtensor, name)
    for name in ("Subtensor", "AdvancedSubtensor", "AdvancedSubtensor1")
    if hasattr(subtensor, name)
)
INSERTING = tuple(
    getattr(subtensor, name)
    for name in ("IncSubtensor", "AdvancedIncSubtensor", "AdvancedIncSubtensor1")
    if hasattr(subtensor, name)
)
MOVES = (
    DimShuffle,
    Reshape,
    SpecifyShape,
    *INDEXING,
    tensor_basic.Join,
    tensor_basic.MakeVector,
    tensor_basic.Alloc,
    tensor_basic.ExtractDiag,
    tensor_basic.TensorFromScalar,
    tensor_basic.ScalarFromTensor,
    Repeat,
    CheckAndRaise,
    DeepCopyOp,
    ViewOp,
)
"""Operations that copy entries of their inputs to places that depend on indices alone."""


def movement(situation: Situation, d: int) -> Dependence:
    """Follow each entry to where an operation copies it, by moving numbered entries."""
    op, node = situation.node.op, situation.node
    only_first = not isinstance(op, JOINS)
    if isinstance(op, CheckAndRaise):
        conditions = [situation.of(i).degree for i in situation.touched if i > 0]
        unknown = situation.inputs[0] is None or any(conditions)
        return mix(situation, d) if unknown else situation.of(0)
    if only_first and situation.touched != [0]:
        return selection(situation, d) if isinstance(op, INDEXING) else mix(situation, d)
    if only_first and not all(situation.data_only[1:]):
        return mix(situation, d)
    numbered, supports = _number_entries(situation, only_first=only_first)
    out: list[list[Any]] = [[None]]
    if only_first:
        node.op.perform(node, numbered, out)
    else:
        # Performed as it stands, a join of booleans or small integers would cut the numbers.
        out[0][0] = join(node, numbered)
    ids = np.asarray(out[0][0]).ravel().astype(np.int64)
    support = sp.csr_array(sp.vstack(supports))[ids]
    touched = [situation.of(i) for i in situation.touched]
    return Dependence(support, max(t.degree for t in touched), all(t.multilinear for t in touched))


def _number_entries(
    situation: Situation, *, only_first: bool
) -> tuple[list[Any], list[sp.csr_array]]:
    """Replace data inputs by arrays of row numbers into the stacked supports."""
    numbered, supports, start = list(situation.values), [], 0
    d = situation.of(situation.touched[0]).support.shape[1]
    for i in [0] if only_first else range(first_part(situation.node), len(numbered)):
        shape = np.shape(situation.values[i])
        n = int(np.prod(shape))
        dependence = situation.inputs[i]
        supports.append(
            sp.csr_array((n, d), dtype=bool) if dependence is None else dependence.support
        )
        numbered[i] = np.arange(start, start + n).reshape(shape)
        start += n
    return numbered, supports


def selection(situation: Situation, d: int) -> Dependence:
    """Indexing by something that depends on s, such as ``mu[z]`` or ``table[a, b]``."""
    index = _concrete_index(situation)
    if situation.inputs[0] is not None or index is None:
        return mix(situation, d)
    arrays = {k: entry for k, entry in enumerate(index) if not isinstance(entry, slice)}
    shape = np.broadcast_shapes(*[np.shape(value) for _, value in arrays.values()])
    rows = []
    for axis, (i, value) in arrays.items():
        if situation.inputs[i] is not None:
            ids = np.arange(np.size(value)).reshape(np.shape(value))
            picked = np.broadcast_to(ids, shape).ravel()
            where = _follow_index(np.shape(situation.values[0]), index, axis, shape)
            rows.append(situation.of(i).support[picked[where]])
    return Dependence(union(rows), unless_parameters(situation, NOT_POLYNOMIAL), False)


def _concrete_index(situation: Situation) -> list[Any] | None:
    """Return the index as slices and pairs (input, value); None if s decides a shape."""
    node = situation.node
    position = {variable: i for i, variable in enumerate(node.inputs)}
    idx_list = getattr(node.op, "idx_list", None)
    entries: list[Any] = []
    for entry in subtensor.indices_from_subtensor(node.inputs[1:], idx_list):
        parts = [entry.start, entry.stop, entry.step] if isinstance(entry, slice) else [entry]
        used = [position[part] for part in parts if part in position]
        values = [situation.values[position[p]] if p in position else p for p in parts]
        if isinstance(entry, slice):
            if not all(situation.data_only[i] for i in used):
                return None
            entries.append(slice(*[None if v is None else int(v) for v in values]))
        elif not used or np.asarray(values[0]).dtype.kind not in "iu":
            return None
        else:
            entries.append((used[0], values[0]))
    return entries


def _follow_index(
    source: tuple[int, ...], index: list[Any], axis: int, shape: tuple[int, ...]
) -> Array:
    """Return, per entry of the result, which entry of the broadcast index arrays chose it."""
    n = int(np.prod(shape))
    numbers = [1] * len(source)
    numbers[axis] = n
    sizes = [n if k == axis else size for k, size in enumerate(source)]
    marked = np.broadcast_to(np.arange(n).reshape(numbers), sizes)
    chosen = np.arange(n).reshape(shape)
    entries = [
        entry if isinstance(entry, slice) else chosen if k == axis else np.zeros(shape, int)
        for k, entry in enumerate(index)
    ]
    return np.asarray(marked[tuple(entries)]).ravel()


def _index(op: Any, values: list[Any]) -> tuple[Any, ...]:
    """Return what an operation is indexed by, as NumPy would be."""
    idx_list = getattr(op, "idx_list", None)
    if idx_list is None:  # arrays alone
        return tuple(values)
    return tuple(subtensor.indices_from_subtensor(values, idx_list))


def insertion(situation: Situation, d: int) -> Dependence:
    """Set or add entries of one tensor into another at places that depend on data alone."""
    op, node = situation.node.op, situation.node
    places_known = all(situation.data_only[2:]) and all(i < 2 for i in situation.touched)
    if not places_known:
        return mix(situation, d)
    target, source = np.shape(situation.values[0]), np.shape(situation.values[1])
    n, m = int(np.prod(target)), int(np.prod(source))
    empty = [sp.csr_array((size, d), dtype=bool) for size in (n, m)]
    supports = [empty[i] if (x := situation.inputs[i]) is None else x.support for i in range(2)]
    if op.set_instead_of_inc:
        numbered = [np.arange(n).reshape(target), np.arange(n, n + m).reshape(source)]
        out: list[list[Any]] = [[None]]
        node.op.perform(node, [*numbered, *situation.values[2:]], out)
        support = sp.csr_array(sp.vstack(supports))[np.asarray(out[0][0]).ravel()]
    else:
        places = np.arange(n).reshape(target)[_index(op, situation.values[2:])]
        sources = np.broadcast_to(np.arange(m).reshape(source), places.shape)
        pairs = np.ones(places.size, np.int32), (places.ravel(), sources.ravel())
        added = sp.csr_array(pairs, (n, m)) @ supports[1].astype(np.int32)
        support = sp.csr_array((supports[0].astype(np.int32) + added).astype(bool))
    touched = [situation.of(i) for i in situation.touched]
    return Dependence(support, max(t.degree for t in touched), all(t.multilinear for t in touched))
