"""Transfer rules of the dependence analysis: what each operation does to a dependence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from pytensor.compile.ops import DeepCopyOp, ViewOp
from pytensor.graph.basic import Constant
from pytensor.graph.traversal import ancestors
from pytensor.raise_op import CheckAndRaise
from pytensor.scalar import basic as scalar
from pytensor.tensor import basic as tensor_basic
from pytensor.tensor import math as tensor_math
from pytensor.tensor import subtensor
from pytensor.tensor.blockwise import Blockwise
from pytensor.tensor.elemwise import CAReduce, DimShuffle, Elemwise
from pytensor.tensor.extra_ops import CumOp, Repeat
from pytensor.tensor.shape import Reshape, SpecifyShape

try:  # PyTensor 3
    from pytensor.tensor.linalg.solvers.core import SolveBase
except ImportError:  # PyTensor 2
    from pytensor.tensor.slinalg import SolveBase

from pymc_exact_hmc.model.dependence import NOT_POLYNOMIAL, Dependence, Situation
from pymc_exact_hmc.model.joins import JOINS, first_part, join

Array = np.ndarray
Rule = Callable[[Situation, int], Dependence | None]

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


def transfer(situation: Situation, d: int) -> list[Dependence | None]:
    """Return the dependence of each output of a node."""
    if not situation.touched:  # ones_like(s) and what follows: only the shape is of s
        return [None for _ in situation.node.outputs]
    if len(situation.node.outputs) > 1:
        return [mix(situation, d) for _ in situation.node.outputs]
    dependence = _rule(situation.node.op)(situation, d)
    if dependence is None:
        return [None]
    inherited = all(_of(situation, i).shaped for i in situation.touched)
    certain = situation.node.outputs[0].ndim == 0 or (dependence.shaped and inherited)
    return [replace(dependence, shaped=certain)]


def _rule(op: Any) -> Rule:
    core = op.core_op if isinstance(op, Blockwise) else op
    if isinstance(op, Elemwise | scalar.ScalarOp):
        return elementwise
    if isinstance(op, CAReduce):
        return reduction
    if isinstance(core, tensor_math.Dot):
        return product
    if isinstance(core, SolveBase):
        return linear_solve
    if isinstance(op, CumOp):
        return cumulation
    if isinstance(op, INSERTING):
        return insertion
    if isinstance(op, MOVES):
        return movement
    return mix


def mix(situation: Situation, d: int) -> Dependence:
    """Every entry depends on everything, in an unknown way: always true."""
    degree = _unless_parameters(situation, NOT_POLYNOMIAL)
    return replace(_spread(situation, d, degree, multilinear=False), shaped=False)


def _unless_parameters(situation: Situation, degree: int) -> int:
    """Return ``degree``, or 0 if only unknowns that count as parameters come in."""
    return 0 if all(_of(situation, i).degree == 0 for i in situation.touched) else degree


def _spread(situation: Situation, d: int, degree: int, *, multilinear: bool) -> Dependence:
    everything = np.zeros(d, bool)
    for i in situation.touched:
        everything[_of(situation, i).support.indices] = True
    columns = np.flatnonzero(everything)
    n = situation.output.size
    pointer = np.arange(n + 1) * columns.size
    support = sp.csr_array((np.ones(n * columns.size, bool), np.tile(columns, n), pointer), (n, d))
    return Dependence(support, degree, multilinear)


def _of(situation: Situation, i: int) -> Dependence:
    dependence = situation.inputs[i]
    assert dependence is not None
    return dependence


def elementwise(situation: Situation, d: int) -> Dependence | None:
    """Entry n depends on what the entries n of the inputs depend on."""
    op = situation.node.op
    operation = op.scalar_op if isinstance(op, Elemwise) else op
    positions = situation.touched
    if isinstance(operation, scalar.Second):  # the first input gives the shape alone
        positions = [i for i in positions if i == 1]
        if not positions:
            return None
    rows = [broadcast_support(situation, i) for i in positions]
    degree = _elementwise_degree(operation, situation, positions)
    disjoint = isinstance(operation, scalar.Mul) and _disjoint(rows)
    affine = degree <= max(_of(situation, i).degree for i in positions) or disjoint
    multilinear = all(_of(situation, i).multilinear for i in positions) and affine
    return Dependence(_union(rows), degree, multilinear and degree < NOT_POLYNOMIAL)


def broadcast_support(situation: Situation, i: int) -> sp.csr_array:
    """Return the support of input i, broadcast to the entries of the output."""
    support = _of(situation, i).support
    shape = np.shape(situation.values[i])
    if shape == situation.output.shape:
        return support
    ids = np.arange(support.shape[0]).reshape(shape)
    return support[np.broadcast_to(ids, situation.output.shape).ravel()]


def _elementwise_degree(operation: Any, situation: Situation, positions: list[int]) -> int:
    degrees = [_of(situation, i).degree for i in positions]
    if max(degrees) == 0:  # a function of parameters alone
        return 0
    if not is_exact(situation.node.outputs[0]):
        return NOT_POLYNOMIAL
    if isinstance(
        operation, scalar.Add | scalar.Sub | scalar.Neg | scalar.Identity | scalar.Second
    ):
        return max(degrees)
    if isinstance(operation, scalar.Cast):
        return degrees[0] if operation.o_type.dtype.startswith("float") else NOT_POLYNOMIAL
    if isinstance(operation, scalar.Mul):
        return min(sum(degrees), NOT_POLYNOMIAL)
    if isinstance(operation, scalar.Sqr):
        return min(2 * degrees[0], NOT_POLYNOMIAL)
    free = {
        i
        for i in range(len(situation.inputs))
        if (x := situation.inputs[i]) is None or x.degree == 0
    }
    if isinstance(operation, scalar.TrueDiv) and 1 in free:
        return degrees[0]
    if isinstance(operation, scalar.Switch) and 0 in free:
        return max(degrees)
    if isinstance(operation, scalar.Pow) and positions == [0] and situation.data_only[1]:
        return _power_degree(degrees[0], np.asarray(situation.values[1]), situation.node.inputs[1])
    return NOT_POLYNOMIAL


def _power_degree(degree: int, exponents: Array, written: Any) -> int:
    whole = np.all((exponents == np.round(exponents)) & (exponents >= 0))
    if not whole or exponents.size == 0:
        return NOT_POLYNOMIAL
    seen = all(isinstance(v, Constant) for v in ancestors([written]) if v.owner is None)
    if exponents.min() < 2 and not (seen and exponents.min() == exponents.max()):
        return NOT_POLYNOMIAL  # PyTensor's derivatives of 0⁰ and 0¹ are 0/0, unless it sees them
    return min(degree * int(exponents.max()), NOT_POLYNOMIAL)


def _union(supports: list[sp.csr_array]) -> sp.csr_array:
    total = supports[0]
    for support in supports[1:]:
        total = total + support
    return sp.csr_array(total.astype(bool))


def _disjoint(supports: list[sp.csr_array]) -> bool:
    return int(_union(supports).nnz) == sum(int(support.nnz) for support in supports)


def reduction(situation: Situation, d: int) -> Dependence:
    """Follow a sum, product, maximum … over axes: it depends on all it runs over."""
    source = _of(situation, 0)
    op = situation.node.op
    groups = _group_matrix(op.axis, np.shape(situation.values[0]))
    support = sp.csr_array((groups @ source.support).astype(bool))
    if not is_exact(situation.node.outputs[0]):
        return Dependence(support, _unless_parameters(situation, NOT_POLYNOMIAL), False)
    if isinstance(op, tensor_math.Sum):
        return Dependence(support, source.degree, source.multilinear)
    if isinstance(op, tensor_math.Prod):
        size = int(np.diff(groups.indptr).max(initial=0))
        apart = int(support.nnz) == int(source.support.nnz)
        degree = min(source.degree * size, NOT_POLYNOMIAL)
        return Dependence(support, degree, source.multilinear and apart and degree < NOT_POLYNOMIAL)
    return Dependence(support, _unless_parameters(situation, NOT_POLYNOMIAL), False)


def is_exact(tensor: Any) -> bool:
    """Return whether sums and products in a type are those of numbers: no overflow, no logic."""
    dtype = str(tensor.type.dtype)
    return dtype == "int64" or dtype.startswith("float")


def _group_matrix(axis: Any, shape: tuple[int, ...]) -> sp.csr_array:
    """Return the boolean matrix (results × entries) of a reduction over ``axis``."""
    axes = range(len(shape)) if axis is None else np.atleast_1d(axis)
    kept = [1 if i in set(axes) else n for i, n in enumerate(shape)]
    n, results = int(np.prod(shape)), int(np.prod(kept))
    group = np.broadcast_to(np.arange(results).reshape(kept), shape).ravel()
    return sp.csr_array((np.ones(n, bool), (group, np.arange(n))), shape=(results, n))


def product(situation: Situation, d: int) -> Dependence:
    """Follow a matrix product, out[i, j] = Σ_k a[i, k] b[k, j]."""
    a, b = (np.asarray(value) for value in situation.values)
    both = len(situation.touched) == 2
    degree = min(sum(_of(situation, i).degree for i in situation.touched), NOT_POLYNOMIAL)
    multilinear = all(_of(situation, i).multilinear for i in situation.touched)
    op = situation.node.op
    batched = isinstance(op, Blockwise) and op.batch_ndim(situation.node) > 0
    if batched or a.ndim > 2 or b.ndim > 2:
        return _spread(situation, d, degree, multilinear=multilinear and not both)
    rows, cols = (1 if a.ndim == 1 else a.shape[0]), (1 if b.ndim == 1 else b.shape[1])
    inner = a.shape[-1]
    parts = []
    if situation.inputs[1] is not None:
        parts.append(_left_product(_nonzero(situation, 0).reshape(rows, inner), situation, 1, cols))
    if situation.inputs[0] is not None:
        swap = np.arange(rows * cols).reshape(cols, rows).T.ravel()
        mask = _nonzero(situation, 1).reshape(inner, cols).T
        flipped = _left_product(mask, situation, 0, rows, transpose=True)
        parts.append(flipped[swap])
    if both:
        multilinear = multilinear and rows == cols == 1 and _disjoint_pairs(situation)
    return Dependence(_union(parts), degree, multilinear and degree < NOT_POLYNOMIAL)


def _nonzero(situation: Situation, i: int) -> Array:
    """Return where an input can differ from zero, for all values of the random variables."""
    value = np.asarray(situation.values[i])
    return value != 0 if situation.data_only[i] else np.ones(value.shape, bool)


def _left_product(
    mask: Array, situation: Situation, i: int, columns: int, *, transpose: bool = False
) -> sp.csr_array:
    """Return the support of (a matrix with nonzeros ``mask``) times input i, row by row."""
    support = _of(situation, i).support
    k = mask.shape[1]
    ids = np.arange(k * columns)
    ids = ids.reshape(columns, k).T if transpose else ids.reshape(k, columns)
    left = sp.csr_array(mask)
    blocks = [left @ support[ids[:, j]] for j in range(columns)]
    stacked = sp.csr_array(sp.vstack(blocks).astype(bool))
    order = np.arange(mask.shape[0] * columns).reshape(columns, mask.shape[0]).T.ravel()
    return stacked[order]


def _disjoint_pairs(situation: Situation) -> bool:
    first, second = _of(situation, 0).support, _of(situation, 1).support
    return bool(first.multiply(second).nnz == 0)


def linear_solve(situation: Situation, d: int) -> Dependence:
    """Follow A⁻¹b, which is linear in b where A is free of the unknowns."""
    matrix, right = situation.inputs[0], situation.inputs[1]
    if right is None or (matrix is not None and matrix.degree > 0):
        return mix(situation, d)
    return _spread(situation, d, right.degree, multilinear=matrix is None and right.multilinear)


def cumulation(situation: Situation, d: int) -> Dependence:
    """Follow a cumulative sum: an entry depends at most on all of its line."""
    source, op = _of(situation, 0), situation.node.op
    if op.mode != "add":
        return mix(situation, d)
    shape = np.shape(situation.values[0])
    axis = tuple(range(len(shape))) if op.axis is None else op.axis
    groups = _group_matrix(axis, shape)
    support = sp.csr_array((groups.T @ (groups @ source.support)).astype(bool))
    return Dependence(support, source.degree, source.multilinear)


def movement(situation: Situation, d: int) -> Dependence:
    """Follow each entry to where an operation copies it, by moving numbered entries."""
    op, node = situation.node.op, situation.node
    only_first = not isinstance(op, JOINS)
    if isinstance(op, CheckAndRaise):
        conditions = [_of(situation, i).degree for i in situation.touched if i > 0]
        unknown = situation.inputs[0] is None or any(conditions)
        return mix(situation, d) if unknown else _of(situation, 0)
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
    touched = [_of(situation, i) for i in situation.touched]
    return Dependence(support, max(t.degree for t in touched), all(t.multilinear for t in touched))


def _number_entries(
    situation: Situation, *, only_first: bool
) -> tuple[list[Any], list[sp.csr_array]]:
    """Replace data inputs by arrays of row numbers into the stacked supports."""
    numbered, supports, start = list(situation.values), [], 0
    d = _of(situation, situation.touched[0]).support.shape[1]
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
            rows.append(_of(situation, i).support[picked[where]])
    return Dependence(_union(rows), _unless_parameters(situation, NOT_POLYNOMIAL), False)


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


def insertion(situation: Situation, d: int) -> Dependence:
    """Set or add entries of one tensor into another at places that depend on data alone."""
    op, node = situation.node.op, situation.node
    places_known = all(situation.data_only[2:]) and all(i < 2 for i in situation.touched)
    if not (op.set_instead_of_inc and places_known):
        return mix(situation, d)
    target, source = np.shape(situation.values[0]), np.shape(situation.values[1])
    n, m = int(np.prod(target)), int(np.prod(source))
    numbered = [np.arange(n).reshape(target), np.arange(n, n + m).reshape(source)]
    out: list[list[Any]] = [[None]]
    node.op.perform(node, [*numbered, *situation.values[2:]], out)
    empty = [sp.csr_array((size, d), dtype=bool) for size in (n, m)]
    supports = [empty[i] if (x := situation.inputs[i]) is None else x.support for i in range(2)]
    support = sp.csr_array(sp.vstack(supports))[np.asarray(out[0][0]).ravel()]
    touched = [_of(situation, i) for i in situation.touched]
    return Dependence(support, max(t.degree for t in touched), all(t.multilinear for t in touched))
