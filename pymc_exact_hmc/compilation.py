"""Compile kernels with numba, cached on disk, and let verbs be chosen by type.

Three tools, used by every kernel of the package:

``kernel``
    ``numba.njit`` whose disk cache is thrown away whenever *any* file with compiled code
    changes. numba itself looks only at the file that holds the kernel, so after an edit of
    a file the kernel calls into, or an upgrade, the old code would run.
``verb``
    A function that is chosen by the class of its first argument, an ingredient: a
    ``NamedTuple`` of arrays. The same choice works in compiled code (an overload) and in
    plain Python (single dispatch), so kernels also run under ``NUMBA_DISABLE_JIT=1``.
``bind``
    The machine code of a kernel for given types, compiled at once, unless within
    ``compiled_on_demand``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, partial, singledispatch
from pathlib import Path
from typing import Any

import numba
from numba.core import types
from numba.extending import overload

COMPILED = (
    "augmentations",
    "dynamics",
    "energies",
    "likelihoods",
    "regions",
    "tapes",
    "weights",
    "compilation.py",
    "error_function.py",
    "random_stream.py",
)
"""Where kernels are, and all that they call: the layers that know nothing of PyMC."""


@cache
def kernel_fingerprint() -> str:
    """Hash of every source file that holds compiled code."""
    root = Path(__file__).parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        place = path.relative_to(root)
        if place.parts[0] in COMPILED:
            digest.update(place.as_posix().encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


def kernel(function: Callable[..., Any] | None = None, *, inline: str = "never") -> Any:
    """Compile ``function`` with a disk cache that is valid for these sources only.

    Kernels allocate nothing, so reference counting is left out: counting every array that
    is taken out of a ``NamedTuple`` costs four times the rest of a wall hit. None is called
    from C, so wrappers for that are left out: they are a twentieth of compilation.
    """
    if function is None:
        return partial(kernel, inline=inline)
    compiled = numba.njit(
        cache=True, error_model="numpy", inline=inline, _nrt=False, no_cfunc_wrapper=True
    )
    dispatcher = compiled(function)
    # Without compilation njit returns the function itself, which has no cache.
    cache_file = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
    if cache_file is not None:
        cache_file._source_stamp = (cache_file._source_stamp, kernel_fingerprint())
    return dispatcher


def verb(stub: Callable[..., Any]) -> Any:
    """Turn ``stub`` into a function chosen by the class of its first argument.

    Implementations are added with ``@stub.register(Ingredient)`` and must take the same
    parameters as the stub.
    """
    dispatch = singledispatch(stub)

    # Inlined, a verb costs nothing; as a call it costs more than the arithmetic in it.
    @overload(dispatch, strict=False, inline="always")
    def choose(ingredient: Any, *_: Any) -> Any:
        if isinstance(ingredient, types.BaseNamedTuple):
            return dispatch.registry.get(ingredient.instance_class)
        return None

    return dispatch


_ON_DEMAND = ContextVar("on_demand", default=False)


@contextmanager
def compiled_on_demand() -> Iterator[None]:
    """Let what is bound within be compiled when it is first called, perhaps never.

    For steps that are made to be looked at. Others are compiled before chains are forked.
    """
    token = _ON_DEMAND.set(True)
    try:
        yield
    finally:
        _ON_DEMAND.reset(token)


def bind(dispatcher: Any, *arguments: Any) -> Callable[..., Any]:
    """Return the machine code of a kernel for arguments of these types.

    A call through the dispatcher first finds out the types, which takes 5 µs for arrays in
    tuples and 300 µs if a compiled function is among them. What is returned here must be
    called with arguments of the same types only.
    """
    if _ON_DEMAND.get() or not hasattr(dispatcher, "overloads"):
        itself: Callable[..., Any] = dispatcher  # it has no overloads if numba is switched off
        return itself
    signature = tuple(numba.typeof(argument) for argument in arguments)
    dispatcher.compile(signature)
    machine_code: Callable[..., Any] = dispatcher.overloads[signature].entry_point
    return machine_code
