"""Find indicators and coefficients in a trace, by names, dims and values.

A trace is an ArviZ ``InferenceData``, an xarray ``DataTree`` or a ``Dataset`` of the posterior;
sampled just now or read back from a file.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import xarray as xr

from pymc_exact_hmc.results.labels import labels_of, table_index

Float = npt.NDArray[np.float64]
SAMPLED = ("chain", "draw")


@dataclass(frozen=True)
class Indicators:
    """Draws (chain, draw, indicator) of 0 and 1, with a label for each indicator.

    ``probability`` holds, if the trace does, the probability of each indicator given the rest.
    """

    name: str
    draws: npt.NDArray[np.int8]
    dims: tuple[str, ...]
    shape: tuple[int, ...]
    index: pd.Index
    labels: list[str]
    probability: Float | None

    @property
    def d(self) -> int:
        """The number of indicators."""
        return int(self.draws.shape[2])

    def position(self, label: Any) -> int:
        """Return the place of an indicator that is given by its label or its number."""
        for names in (list(self.index), self.labels):
            if label in names:
                return int(names.index(label))
        if isinstance(label, int | np.integer) and 0 <= label < self.d:
            return int(label)
        shown = ", ".join(self.labels[:8]) + (", …" if self.d > 8 else "")
        raise ValueError(f"{label!r} is not one of the indicators {self.name}: {shown}.")


def group_of(idata: Any, name: str) -> xr.Dataset | None:
    """Return a group of a trace as a dataset, or None if the trace does not have it."""
    if isinstance(idata, xr.DataTree) and name not in idata.children:
        # A node of a tree, such as the posterior itself.
        idata = idata.to_dataset()
    if isinstance(idata, xr.Dataset):
        return idata if name == "posterior" else None
    try:
        found = idata[name]
    except (KeyError, TypeError, AttributeError):
        return None
    return found.to_dataset() if isinstance(found, xr.DataTree) else found


def posterior_of(idata: Any) -> xr.Dataset:
    """Return the posterior of a trace."""
    posterior = group_of(idata, "posterior")
    if posterior is None or not set(SAMPLED) <= set(posterior.dims):
        raise ValueError(
            "There is no posterior with chains and draws in what was given. Give what pm.sample "
            "returned, or read it from a file with arviz.from_netcdf."
        )
    return posterior


def flat_draws(variable: xr.DataArray) -> npt.NDArray[Any]:
    """Return the draws of a variable as an array (chain, draw, entry)."""
    values = variable.transpose(*SAMPLED, ...).values
    return np.asarray(values.reshape(*values.shape[:2], -1))


def event_dims(variable: xr.DataArray) -> tuple[str, ...]:
    """Return the dims of one draw."""
    return tuple(str(dim) for dim in variable.dims if dim not in SAMPLED)


def is_binary(variable: xr.DataArray) -> bool:
    """Return whether a variable holds whole numbers that are all 0 or 1."""
    if variable.dtype.kind not in "biu" or not set(SAMPLED) <= set(variable.dims):
        return False
    return bool(variable.size and variable.min() >= 0 and variable.max() <= 1)


def binary_names(posterior: xr.Dataset) -> list[str]:
    """Return the names of the binary variables."""
    return [str(name) for name, variable in posterior.items() if is_binary(variable)]


def read_indicators(idata: Any, gamma: str | None = None) -> Indicators:
    """Return the indicators of a trace: those named, or the only binary variable."""
    posterior = posterior_of(idata)
    name = _choose_indicators(posterior, gamma)
    variable = posterior[name].transpose(*SAMPLED, ...)
    draws = flat_draws(variable).astype(np.int8, copy=False)
    dims, shape = event_dims(variable), variable.shape[2:]
    return Indicators(
        name,
        draws,
        dims,
        shape,
        table_index(variable, dims, name),
        labels_of(variable, dims, name),
        _probability(idata, posterior, name, draws.shape),
    )


def _choose_indicators(posterior: xr.Dataset, gamma: str | None) -> str:
    if gamma is not None:
        if gamma not in posterior:
            known = ", ".join(binary_names(posterior)) or "none"
            raise ValueError(
                f"There is no variable {gamma!r} in the trace; binary variables: {known}."
            )
        if not is_binary(posterior[gamma]):
            raise ValueError(f"{gamma!r} holds values other than the whole numbers 0 and 1.")
        return gamma
    names = binary_names(posterior)
    if len(names) == 1:
        return names[0]
    if not names:
        found = ", ".join(str(name) for name in posterior) or "no variables"
        raise ValueError(f"There are no binary variables in the trace; it holds {found}.")
    raise ValueError(
        f"There are several binary variables in the trace: {', '.join(names)}. Say which are the "
        f"indicators, for example gamma={names[0]!r}."
    )


def _probability(
    idata: Any, posterior: xr.Dataset, name: str, shape: tuple[int, ...]
) -> Float | None:
    """Return the recorded conditional probabilities, if it is certain whose they are."""
    stats = group_of(idata, "sample_stats")
    if stats is None:
        return None
    own = f"ehmc_inclusion_{name}"
    if own not in stats:
        own = "ehmc_inclusion"
        if own not in stats or binary_names(posterior) != [name]:
            return None
    values = flat_draws(stats[own])
    return values if values.shape == shape else None
