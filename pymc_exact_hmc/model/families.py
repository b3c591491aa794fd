"""Likelihoods that are Gaussian in a linear predictor, or become so given latent variables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import pytensor.tensor as pt
from pymc.distributions.censored import CensoredRV
from pymc.distributions.continuous import AsymmetricLaplaceRV
from pytensor.graph.basic import Variable
from pytensor.tensor.random.basic import (
    BernoulliRV,
    BinomialRV,
    LaplaceRV,
    MvNormalRV,
    NegBinomialRV,
    NormalRV,
    StudentTRV,
)

Tensor: TypeAlias = Variable[Any, Any]


class Parts(NamedTuple):
    """A likelihood in parts: where its predictor is, its scale, and its other parameters.

    ``predictor`` is the mean, or where ``odds`` the probability that must be linked to one.
    """

    scheme: str
    predictor: Tensor
    scale: Tensor
    others: tuple[Tensor, ...] = ()
    odds: bool = False


def _student(nu: Tensor, mean: Tensor, scale: Tensor) -> Parts:
    return Parts("student", mean, scale, (nu,))


def _laplace(mean: Tensor, scale: Tensor) -> Parts:
    return Parts("laplace", mean, scale, (pt.constant(0.0),))


def _asymmetric_laplace(b: Tensor, kappa: Tensor, mean: Tensor) -> Parts:
    """−log p = bκr for r > 0 and −(b/κ)r for r < 0: c|r| + mr."""
    return Parts("laplace", mean, 2.0 / (b * (kappa + 1.0 / kappa)), (b * (kappa - 1 / kappa) / 2,))


def _censored(latent: Tensor, lower: Tensor, upper: Tensor) -> Parts | None:
    if latent.owner is None or not isinstance(latent.owner.op, NormalRV):
        return None
    mean, scale = latent.owner.op.dist_params(latent.owner)
    return Parts("censored", mean, scale, (lower, upper))


def _odds(scheme: str) -> Callable[..., Parts]:
    def split(*parameters: Tensor) -> Parts:
        *others, p = parameters
        return Parts(scheme, p, pt.constant(1.0), tuple(others), odds=True)

    return split


SPLIT: dict[type, Callable[..., Parts | None]] = {
    NormalRV: lambda mean, scale: Parts("gaussian", mean, scale),
    MvNormalRV: lambda mean, scale: Parts("gaussian", mean, scale),
    StudentTRV: _student,
    LaplaceRV: _laplace,
    AsymmetricLaplaceRV: _asymmetric_laplace,
    CensoredRV: _censored,
    BernoulliRV: _odds("bernoulli"),
    BinomialRV: _odds("binomial"),
    NegBinomialRV: _odds("negative binomial"),
}
"""How the parameters of each kind of likelihood are read."""


def split_likelihood(rv: Tensor) -> Parts | None:
    """Return the parts of a likelihood, or None if it is none of these."""
    op = rv.owner.op if rv.owner is not None else None
    split = SPLIT.get(type(op))
    if split is None or op is None:
        return None
    return split(*op.dist_params(rv.owner))


def latent_parameters(parts: Parts, link: str, observed: Tensor) -> tuple[str, tuple[Tensor, ...]]:
    """Return the latent scheme and the parameters of each of its rows."""
    y = observed.astype("float64")
    if not parts.odds:
        scheme = parts.scheme
        parameters = () if scheme == "gaussian" else (y, *parts.others)
    elif link == "probit":
        scheme, parameters = "probit", (y,)
    else:
        scheme = "logistic"
        if parts.scheme == "bernoulli":
            parameters = (y, pt.ones_like(y))
        elif parts.scheme == "binomial":
            parameters = (y, parts.others[0])
        else:
            # p^α (1 − p)^y.
            parameters = (parts.others[0], parts.others[0] + y)
    rows = [pt.broadcast_to(x.astype("float64"), observed.shape).ravel() for x in parameters]
    return scheme, tuple(rows)
