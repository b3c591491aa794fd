"""Labels of the entries of a variable, from the coordinates of its dims."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr


def _entries(variable: xr.DataArray, dims: tuple[str, ...]) -> list[tuple[Any, ...]]:
    coordinates = [
        variable[dim].values.tolist() if dim in variable.coords else range(variable.sizes[dim])
        for dim in dims
    ]
    return list(itertools.product(*coordinates))


def table_index(variable: xr.DataArray, dims: tuple[str, ...], name: str) -> pd.Index:
    """Return the index of a table with a row for each entry."""
    entries = _entries(variable, dims)
    if not dims:
        return pd.Index([name], name="variable")
    if len(dims) == 1:
        return pd.Index([entry[0] for entry in entries], name=dims[0])
    return pd.MultiIndex.from_tuples(entries, names=dims)


def labels_of(variable: xr.DataArray, dims: tuple[str, ...], name: str) -> list[str]:
    """Return a short text for each entry: its coordinates, with the name if they are numbers."""
    if not dims:
        return [name]
    labels = []
    for entry in _entries(variable, dims):
        text = ", ".join(str(part) for part in entry)
        words = any(isinstance(part, str) for part in entry)
        labels.append(text if words else f"{name}[{text}]")
    return labels


def model_labels(model: Any, name: str, shape: tuple[int, ...]) -> pd.Index:
    """Return the index of a table of a model's variable, from the model's coordinates."""
    dims = model.named_vars_to_dims.get(name) or [f"{name}_dim_{i}" for i in range(len(shape))]
    dims = [dim or f"{name}_dim_{i}" for i, dim in enumerate(dims)]
    coords = {dim: list(values) for dim, values in model.coords.items() if values is not None}
    variable = xr.DataArray(
        np.empty(shape), dims=dims, coords={dim: coords[dim] for dim in dims if dim in coords}
    )
    return table_index(variable, tuple(dims), name)
