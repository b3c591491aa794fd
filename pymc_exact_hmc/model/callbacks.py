"""Compile a piece of the model's log-density so that kernels can call it.

PyTensor compiles the graph with numba; a small wrapper of a fixed signature makes it a
first-class function, so that the kernels that call it are compiled once for all models.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numba
import numpy as np
import pytensor.tensor as pt
from numba import types
from numba.core.errors import NumbaPerformanceWarning
from pymc.pytensorf import compile as compile_pymc
from pytensor.compile.mode import get_mode
from pytensor.graph.basic import Variable
from pytensor.graph.replace import clone_replace
from pytensor.graph.traversal import toposort
from pytensor.tensor.blockwise import Blockwise

from pymc_exact_hmc.energies import Callback, Multilinear
from pymc_exact_hmc.model.binaries import BinaryVariable
from pymc_exact_hmc.model.evaluation import Point, on_flat_s
from pymc_exact_hmc.model.forms import other_inputs

Tensor: TypeAlias = Variable[Any, Any]

# PyTensor 2.38 adds up whole numbers as such where a real sum is declared; multiplied in place,
# that sum cuts real numbers.
COMPILED = get_mode("NUMBA").excluding("inplace")


class CompiledTerm:
    """A scalar of s and the other variables, with its gradient in s if ``gradient``.

    The other variables are handed over as one flat vector ``theta``.
    """

    def __init__(
        self,
        total: Tensor,
        layout: tuple[BinaryVariable, ...],
        point: Point,
        *,
        gradient: bool = False,
    ):
        (value,), s = on_flat_s([total], layout, relaxed=gradient)
        slope = [pt.grad(value, s)] if gradient else []
        self.gradient = gradient
        self.names: list[str] = []
        outputs, theta = self._on_flat_theta([value.astype("float64"), *slope], s, point)
        if gradient:
            bits = pt.vector("s", dtype="int8", shape=s.type.shape)
            outputs = clone_replace(outputs, {s: bits.astype("float64")})
            s = bits
        mode = COMPILED
        if any("linalg" in type(_core(node.op)).__module__ for node in toposort(outputs)):
            # PyTensor 3 may go on for ever when it fuses what follows a determinant.
            mode = COMPILED.excluding("fusion")
        self.function = compile_pymc([s, theta], outputs, mode=mode, on_unused_input="ignore")
        self.theta = np.zeros(int(sum(np.size(point[name]) for name in self.names)))
        self._wrapped: Any = None

    def _on_flat_theta(
        self, outputs: Sequence[Tensor], s: Tensor, point: Point
    ) -> tuple[list[Tensor], Tensor]:
        others = list(dict.fromkeys(v for o in outputs for v in other_inputs(o, {s})))
        theta, start, replacements = pt.vector("theta", dtype="float64"), 0, {}
        for variable in others:
            shape = np.shape(point[variable.name])
            stop = start + int(np.prod(shape))
            block = theta[start:stop].reshape(shape).astype(variable.type.dtype)
            replacements[variable] = (
                pt.specify_shape(block, variable.type.shape) if shape else block
            )
            self.names.append(variable.name)
            start = stop
        return list(clone_replace(list(outputs), replacements)), theta

    def update(self, point: Point) -> None:
        """Copy the other variables from a point."""
        start = 0
        for name in self.names:
            entries = np.asarray(point[name], dtype=float).ravel()
            self.theta[start : start + entries.size] = entries
            start += entries.size

    def energy(self, d: int) -> Callback | Multilinear:
        """Return the energy whose oracle is this function."""
        value, data = self._wrap()
        if self.gradient:
            return Multilinear(value, self.theta, data, np.zeros(d))
        return Callback(value, self.theta, data, np.zeros(1), np.zeros(1))

    def _wrap(self) -> tuple[Callable[..., float], tuple[Any, ...]]:
        if self._wrapped is None:
            data = tuple(cell.storage[0] for cell in self.function.input_storage[2:])
            wrapper = _wrap_gradient if self.gradient else _wrap_value
            with warnings.catch_warnings():
                # Of PyTensor's own products, which nobody can change here.
                warnings.simplefilter("ignore", NumbaPerformanceWarning)
                self._wrapped = wrapper(self.function.vm.jit_fn, data), data
        wrapped: tuple[Callable[..., float], tuple[Any, ...]] = self._wrapped
        return wrapped

    def __getstate__(self) -> dict[str, Any]:
        """Leave the wrapper behind: it holds machine code of this process."""
        return {**self.__dict__, "_wrapped": None}


def _wrap_value(compiled: Any, data: tuple[Any, ...]) -> Any:
    def value(s, theta, data):  # type: ignore[no-untyped-def]
        return compiled(s, theta, *data)[0].item()

    arrays = (types.int8[::1], types.float64[::1], numba.typeof(data))
    return numba.cfunc(types.float64(*arrays))(value)


def _wrap_gradient(compiled: Any, data: tuple[Any, ...]) -> Any:
    def value(s, theta, data, slope):  # type: ignore[no-untyped-def]
        result = compiled(s, theta, *data)
        slope[:] = result[1]
        return result[0].item()

    arrays = (types.int8[::1], types.float64[::1], numba.typeof(data), types.float64[::1])
    return numba.cfunc(types.float64(*arrays))(value)


def _core(op: Any) -> Any:
    """Return the operation that is repeated over leading axes, or the operation itself."""
    return op.core_op if isinstance(op, Blockwise) else op
