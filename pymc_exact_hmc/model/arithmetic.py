"""Transfer rules of sums, products and functions: what comes out depends on what goes in."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from pytensor.graph.basic import Constant
from pytensor.graph.traversal import ancestors
from pytensor.scalar import basic as scalar
from pytensor.tensor import math as tensor_math
from pytensor.tensor.blockwise import Blockwise
from pytensor.tensor.elemwise import Elemwise

try:  # PyTensor 3
    from pytensor.tensor.linalg.solvers.core import SolveBase
except ImportError:  # PyTensor 2
    from pytensor.tensor.slinalg import SolveBase

from pymc_exact_hmc.model.dependence import NOT_POLYNOMIAL, Dependence, Situation
from pymc_exact_hmc.model.mixing import mix, spread, union, unless_parameters

__all__ = [
    "SolveBase",
    "broadcast_support",
    "cumulation",
    "elementwise",
    "is_exact",
    "linear_solve",
    "product",
    "reduction",
]
Array = np.ndarray


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
    affine = degree <= max(situation.of(i).degree for i in positions) or disjoint
    multilinear = all(situation.of(i).multilinear for i in positions) and affine
    return Dependence(union(rows), degree, multilinear and degree < NOT_POLYNOMIAL)


def broadcast_support(situation: Situation, i: int) -> sp.csr_array:
    """Return the support of input i, broadcast to the entries of the output."""
    support = situation.of(i).support
    shape = np.shape(situation.values[i])
    if shape == situation.output.shape:
        return support
    ids = np.arange(support.shape[0]).reshape(shape)
    return support[np.broadcast_to(ids, situation.output.shape).ravel()]


def _elementwise_degree(operation: Any, situation: Situation, positions: list[int]) -> int:
    degrees = [situation.of(i).degree for i in positions]
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


def _disjoint(supports: list[sp.csr_array]) -> bool:
    return int(union(supports).nnz) == sum(int(support.nnz) for support in supports)


def reduction(situation: Situation, d: int) -> Dependence:
    """Follow a sum, product, maximum … over axes: it depends on all it runs over."""
    source = situation.of(0)
    op = situation.node.op
    groups = _group_matrix(op.axis, np.shape(situation.values[0]))
    support = sp.csr_array((groups @ source.support).astype(bool))
    if not is_exact(situation.node.outputs[0]):
        return Dependence(support, unless_parameters(situation, NOT_POLYNOMIAL), False)
    if isinstance(op, tensor_math.Sum):
        return Dependence(support, source.degree, source.multilinear)
    if isinstance(op, tensor_math.Prod):
        size = int(np.diff(groups.indptr).max(initial=0))
        apart = int(support.nnz) == int(source.support.nnz)
        degree = min(source.degree * size, NOT_POLYNOMIAL)
        return Dependence(support, degree, source.multilinear and apart and degree < NOT_POLYNOMIAL)
    return Dependence(support, unless_parameters(situation, NOT_POLYNOMIAL), False)


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
    degree = min(sum(situation.of(i).degree for i in situation.touched), NOT_POLYNOMIAL)
    multilinear = all(situation.of(i).multilinear for i in situation.touched)
    op = situation.node.op
    batched = isinstance(op, Blockwise) and op.batch_ndim(situation.node) > 0
    if batched or a.ndim > 2 or b.ndim > 2:
        return spread(situation, d, degree, multilinear=multilinear and not both)
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
    return Dependence(union(parts), degree, multilinear and degree < NOT_POLYNOMIAL)


def _nonzero(situation: Situation, i: int) -> Array:
    """Return where an input can differ from zero, for all values of the random variables."""
    value = np.asarray(situation.values[i])
    return value != 0 if situation.data_only[i] else np.ones(value.shape, bool)


def _left_product(
    mask: Array, situation: Situation, i: int, columns: int, *, transpose: bool = False
) -> sp.csr_array:
    """Return the support of (a matrix with nonzeros ``mask``) times input i, row by row."""
    support = situation.of(i).support
    k = mask.shape[1]
    ids = np.arange(k * columns)
    ids = ids.reshape(columns, k).T if transpose else ids.reshape(k, columns)
    left = sp.csr_array(mask)
    blocks = [left @ support[ids[:, j]] for j in range(columns)]
    stacked = sp.csr_array(sp.vstack(blocks).astype(bool))
    order = np.arange(mask.shape[0] * columns).reshape(columns, mask.shape[0]).T.ravel()
    return stacked[order]


def _disjoint_pairs(situation: Situation) -> bool:
    first, second = situation.of(0).support, situation.of(1).support
    return bool(first.multiply(second).nnz == 0)


def linear_solve(situation: Situation, d: int) -> Dependence:
    """Follow A⁻¹b, which is linear in b where A is free of the unknowns."""
    matrix, right = situation.inputs[0], situation.inputs[1]
    if right is None or (matrix is not None and matrix.degree > 0):
        return mix(situation, d)
    return spread(situation, d, right.degree, multilinear=matrix is None and right.multilinear)


def cumulation(situation: Situation, d: int) -> Dependence:
    """Follow a cumulative sum: an entry depends at most on all of its line."""
    source, op = situation.of(0), situation.node.op
    if op.mode != "add":
        return mix(situation, d)
    shape = np.shape(situation.values[0])
    axis = tuple(range(len(shape))) if op.axis is None else op.axis
    groups = _group_matrix(axis, shape)
    support = sp.csr_array((groups.T @ (groups @ source.support)).astype(bool))
    return Dependence(support, source.degree, source.multilinear)
