"""The latent variables of one likelihood, drawn at the current point."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from pymc_exact_hmc.compilation import bind
from pymc_exact_hmc.likelihoods import Censored, Laplace, Logistic, Probit, Student
from pymc_exact_hmc.likelihoods.working import Working, redraw
from pymc_exact_hmc.model.evaluation import Given, Point
from pymc_exact_hmc.model.likelihood_rows import Rows
from pymc_exact_hmc.model.weight_block import Predictor
from pymc_exact_hmc.random_stream import Stream
from pymc_exact_hmc.weights.statistics import Statistics

Vector = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int64]
SCHEMES: dict[str, Any] = {
    "probit": Probit,
    "logistic": Logistic,
    "student": Student,
    "laplace": Laplace,
    "censored": Censored,
}
FIXED = ("probit", "censored")
"""Schemes whose latents move targets and leave precisions alone."""


class LatentRows:
    """Draws the latents of likelihood number ``likelihood``."""

    def __init__(self, likelihood: int, predictor: Predictor, point: Point):
        self.likelihood, self.scheme, self.name = likelihood, predictor.scheme, predictor.name
        self._parameters = Given(list(predictor.parameters), point)
        self.names = self._parameters.names
        columns = [np.array(x, dtype=float).ravel() for x in self._parameters(point)]
        self.family = SCHEMES[predictor.scheme](*columns)
        reason = _why_impossible(predictor.scheme, self.family)
        if reason:
            raise ValueError(f"The data of {predictor.name} are impossible: {reason}.")
        self.changes_precision = predictor.scheme not in FIXED
        size = columns[0].size
        self.factor, self.target, self.eta = np.ones(size), np.zeros(size), np.zeros(size)
        self._redraw: Any = None

    def __getstate__(self) -> dict[str, Any]:
        """Leave out machine code, which belongs to this process."""
        return {**self.__dict__, "_redraw": None}

    def update(self, point: Point) -> None:
        """Bring the parameters to a point."""
        if self.names:
            for column, new in zip(self.family, self._parameters(point), strict=True):
                column[:] = new.ravel()

    def redraw(
        self,
        rows: Rows,
        label: Labels,
        relative: Vector,
        state: tuple[Any, ...],
        stream: Stream,
        statistics: Statistics,
    ) -> None:
        """Draw the latents; ``state`` holds the gates, s, w, and room for a list of weights."""
        working = Working(
            rows.X, rows.offset, rows.precision, label, relative, self.eta, self.target, self.factor
        )
        sums = statistics.slopes, statistics.squares
        arguments = (self.family, working, *state, stream, *sums)
        if self._redraw is None:
            self._redraw = bind(redraw, *arguments)
        self._redraw(*arguments)


def _why_impossible(scheme: str, family: Any) -> str:
    """Return what is wrong with data or parameters, or nothing."""
    if scheme == "student" and not (family.nu > 0).all():
        return "the degrees of freedom nu must be positive"
    if scheme == "probit" and not np.isin(family.y, (0, 1)).all():
        return "responses must be 0 or 1"
    if scheme == "logistic":
        failures = family.b - family.a
        if not (family.b >= 0).all():
            return "the number of trials must not be negative"
        # b may be a sum of counts and a real number: its difference from a is rounded.
        rounding = 1e-6 * (1 + family.b)
        whole = np.abs(failures - np.rint(failures)) <= rounding
        if not (whole & (family.a >= 0) & (failures >= -rounding)).all():
            return "responses must be whole numbers between 0 and the number of trials (1, if none)"
    return ""
