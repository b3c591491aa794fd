"""Which coefficients of a trace the indicators switch, and which indicator switches each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import xarray as xr

from pymc_exact_hmc.results.labels import labels_of, table_index
from pymc_exact_hmc.results.reading import (
    SAMPLED,
    Indicators,
    event_dims,
    flat_draws,
    posterior_of,
)

ALWAYS = -1
"""The gate of a coefficient that no indicator switches."""
DRAWS_AT_ONCE = 64


@dataclass(frozen=True)
class Coefficients:
    """Draws (chain, draw, coefficient) of weights, and the place of the indicator of each.

    The coefficient is the weight times its indicator, which may be in the draws already.
    """

    name: str
    draws: npt.NDArray[np.floating]
    gate: npt.NDArray[np.int64]
    index: pd.Index
    labels: list[str]


def read_coefficients(
    idata: Any, indicators: Indicators, weights: str | None = None, groups: Any = None
) -> Coefficients | None:
    """Return the coefficients that the indicators switch; None if there are none to be found."""
    posterior = posterior_of(idata)
    if weights is None:
        weights = _choose(posterior, indicators, groups)
        if weights is None:
            return None
    elif weights not in posterior:
        known = ", ".join(str(name) for name in posterior if name != indicators.name)
        raise ValueError(f"There is no variable {weights!r} in the trace; it holds {known}.")
    variable = posterior[weights].transpose(*SAMPLED, ...)
    gate = _gates(variable, indicators, groups)
    dims = event_dims(variable)
    return Coefficients(
        weights,
        flat_draws(variable),
        gate,
        table_index(variable, dims, weights),
        labels_of(variable, dims, weights),
    )


def _choose(posterior: xr.Dataset, indicators: Indicators, groups: Any) -> str | None:
    """Return the name of the coefficients: a product with the indicators, or the only match."""
    size = indicators.d if groups is None else len(_as_groups(groups, indicators))
    fitting = [
        str(name)
        for name, variable in posterior.items()
        if variable.dtype.kind == "f" and _fits(variable, indicators, size, groups is not None)
    ]
    products = [name for name in fitting if _vanishes(posterior[name], indicators, groups)]
    for names in (products, fitting):
        if len(names) == 1:
            return names[0]
        if names:
            raise ValueError(
                f"Several variables could be the coefficients that {indicators.name} switches: "
                f"{', '.join(names)}. Say which, for example weights={names[0]!r}."
            )
    return None


def _fits(variable: xr.DataArray, indicators: Indicators, size: int, grouped: bool) -> bool:
    dims = event_dims(variable)
    if grouped:
        return int(np.prod([variable.sizes[dim] for dim in dims])) == size and bool(dims)
    if set(indicators.dims) <= set(dims) and indicators.dims:
        return True
    shape = tuple(variable.sizes[dim] for dim in dims)
    # Dims that a user has named and that differ are different things of the same number.
    named = [d for d in dims if d != f"{variable.name}_dim_{dims.index(d)}"]
    own = [d for d in indicators.dims if d != f"{indicators.name}_dim_{indicators.dims.index(d)}"]
    return shape == indicators.shape and bool(dims) and not (named and own)


def _vanishes(variable: xr.DataArray, indicators: Indicators, groups: Any) -> bool:
    """Return whether a variable is 0 wherever its indicator is, and not only there."""
    values = flat_draws(variable.transpose(*SAMPLED, ...))
    gate = _gates(variable.transpose(*SAMPLED, ...), indicators, groups)
    seen = False
    for start in range(0, values.shape[1], DRAWS_AT_ONCE):
        part = slice(start, start + DRAWS_AT_ONCE)
        off = indicators.draws[:, part][:, :, gate] == 0
        off &= gate != ALWAYS
        if values[:, part][off].any():
            return False
        seen = seen or bool(off.any())
    return seen and bool(values.any())


def _gates(variable: xr.DataArray, indicators: Indicators, groups: Any) -> npt.NDArray[np.int64]:
    """Return the place of the indicator of each entry."""
    dims = event_dims(variable)
    shape = tuple(variable.sizes[dim] for dim in dims)
    size = int(np.prod(shape))
    if groups is not None:
        gate = _as_groups(groups, indicators)
        if gate.size != size:
            raise ValueError(
                f"groups names the indicators of {gate.size} coefficients, but {variable.name} "
                f"has {size}."
            )
        return gate
    if indicators.dims and set(indicators.dims) <= set(dims):
        places = np.arange(indicators.d).reshape(indicators.shape)
        array = xr.DataArray(places, dims=indicators.dims)
        return np.asarray(
            array.broadcast_like(xr.DataArray(np.empty(shape), dims=dims)).transpose(*dims).values
        ).ravel()
    if shape == indicators.shape:
        return np.arange(size)
    raise ValueError(
        f"{variable.name} has the shape {shape} and {indicators.name} has {indicators.shape}. Say "
        "with groups= which indicator switches each coefficient: a list of labels or numbers, "
        "one for each coefficient, −1 for one that is always on."
    )


def _as_groups(groups: Any, indicators: Indicators) -> npt.NDArray[np.int64]:
    return np.array(
        [
            ALWAYS
            if isinstance(label, int | np.integer) and label == ALWAYS
            else indicators.position(label)
            for label in _entries(groups)
        ],
        dtype=np.int64,
    )


def _entries(groups: Any) -> Iterator[Any]:
    """Yield the entries of lists or arrays, nested or not; a tuple is one label of a matrix."""
    for entry in groups.tolist() if isinstance(groups, np.ndarray) else groups:
        if isinstance(entry, list | np.ndarray):
            yield from _entries(entry)
        else:
            yield entry
