"""Say what was recognised in a model, what each wall hit costs, and what was left out."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any

from pymc.model import Model

from pymc_exact_hmc.assembly import Assembly
from pymc_exact_hmc.blocks import General
from pymc_exact_hmc.catalogue import FORMS, GATED, GENERAL, SWITCHED
from pymc_exact_hmc.compilation import compiled_on_demand
from pymc_exact_hmc.model.binaries import why_not_binary
from pymc_exact_hmc.model.constraints import Constraints
from pymc_exact_hmc.model.factors import Factor
from pymc_exact_hmc.model.forms import RecognisedTerm
from pymc_exact_hmc.model.recognise import Block
from pymc_exact_hmc.model.sources import constant_scale
from pymc_exact_hmc.model.switched import SwitchedBlock
from pymc_exact_hmc.model.truncated_weights import TruncatedBlock
from pymc_exact_hmc.model.walls import Walls
from pymc_exact_hmc.moves.binary import BinaryMove
from pymc_exact_hmc.moves.gated import GatedMove
from pymc_exact_hmc.moves.truncated import TruncatedMove

NOT_GIVEN = "it is not among the variables given"
HEADER = ("factor", "recognised as", "coefficients", "per wall hit")
LEFT = 'style="text-align: left"'
"""Notebooks set the cells of tables flush right."""

LATENTS = {
    "probit": "Gaussian given latent normals (probit)",
    "logistic": "Gaussian given Pólya–Gamma latents (log-odds)",
    "student": "Gaussian given latent scales (Student-t)",
    "laplace": "Gaussian given latent scales (Laplace)",
    "censored": "Gaussian given the censored values",
}


@dataclass(frozen=True)
class FactorLine:
    """One factor: how it was recognised, when its coefficients are computed, and the cost."""

    factor: str
    kind: str
    recognised: str
    coefficients: str
    per_hit: str
    reason: str


@dataclass(frozen=True, repr=False)
class Explanation:
    """What ExactBinaryHMC does with a model; prints as text, shows as HTML in notebooks."""

    taken: str
    left: list[str]
    lines: list[FactorLine]
    options: str
    notes: list[str]

    @property
    def _rows(self) -> list[tuple[str, str, str, str]]:
        return [
            (f"{x.factor} ({x.kind})", x.recognised, x.coefficients, x.per_hit) for x in self.lines
        ]

    @property
    def _remarks(self) -> list[str]:
        slower = [f"Slower path for {x.factor}: {x.reason}." for x in self.lines if x.reason]
        return slower + [f"Left to PyMC's own steps: {x}." for x in self.left] + self.notes

    def __str__(self) -> str:
        """Return the explanation as plain text."""
        table = [HEADER, *self._rows]
        widths = [max(len(row[i]) for row in table) for i in range(len(HEADER))]
        rows = [
            "  " + "  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip()
            for row in table
        ]
        return "\n".join(
            [f"ExactBinaryHMC takes {self.taken}", self.options, *rows, *self._remarks]
        )

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = "".join(
            "<tr>" + "".join(f"<td {LEFT}>{escape(cell)}</td>" for cell in row) + "</tr>"
            for row in self._rows
        )
        head = "".join(f"<th {LEFT}>{name}</th>" for name in HEADER)
        remarks = "".join(f"<li>{escape(line)}</li>" for line in self._remarks)
        return (
            f"<p><b>ExactBinaryHMC</b> takes {escape(self.taken)}<br>{escape(self.options)}</p>"
            f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
            + (f"<ul>{remarks}</ul>" if remarks else "")
        )


def explain(model: Model | None = None, vars: Any = None) -> Explanation:
    """Explain what ``ExactBinaryHMC`` would do with a model, without sampling.

    Parameters
    ----------
    model
        A PyMC model; that of the context by default.
    vars
        The variables that would be given to the step.
    """
    from pymc_exact_hmc.step import ExactBinaryHMC

    with compiled_on_demand():
        return ExactBinaryHMC(vars, model=model).explain()


def explain_assembly(model: Model, assembly: Assembly) -> Explanation:
    """Return the explanation of what was put together for a model."""
    if assembly.truncated is not None:
        return _explain_truncated(model, assembly, assembly.truncated)
    block, weights, general = assembly.block, assembly.weights, assembly.general
    parts = [f"{b.name} ({b.stop - b.start})" for b in block.layout]
    plural = "indicator" if block.d == 1 else "indicators"
    taken = f"{', '.join(parts)}: {block.d} {plural}"
    values = {b.value for b in block.layout}
    names = set(assembly.weight_names)
    if general is not None:
        taken += f"; Gaussian weights {', '.join(assembly.weight_names)}"
    if weights is not None:
        gated = ", ".join(f"{w.name} ({w.stop - w.start})" for w in weights.weights)
        taken += f"; weights {gated}, {int((weights.gate >= 0).sum())} of them gated"
    if assembly.hyper is not None:
        taken += f"; scales and probabilities {', '.join(assembly.hyperparameter_names)}"
        names |= set(assembly.hyperparameter_names)
    left = [
        f"{rv.name} ({assembly.reasons.get(rv.name) or why_not_binary(rv) or NOT_GIVEN})"
        for rv in model.free_RVs
        if model.rvs_to_values[rv] not in values and rv.name not in names
    ]
    lines = [_factor_line(factor, block.terms_of(factor)) for factor in block.factors]
    if weights is not None:
        lines += [_likelihood_line(model[p.name], model, assembly) for p in weights.predictors]
    if assembly.fence is not None:
        lines += _constraint_lines(assembly.fence.constraints, assembly.fence.walls)
    if general is not None:
        lines += [_general_line(name, general) for name in general.factor_names]
    return Explanation(taken, left, lines, _options(assembly), _notes(block))


def _explain_truncated(model: Model, assembly: Assembly, block: TruncatedBlock) -> Explanation:
    """Return the explanation of a model without indicators."""
    parts = ", ".join(f"{w.name} ({w.stop - w.start})" for w in block.weights)
    names = set(assembly.weight_names)
    left = [
        f"{rv.name} ({assembly.reasons.get(rv.name, NOT_GIVEN)})"
        for rv in model.free_RVs
        if rv.name not in names
    ]
    move = assembly.move
    assert isinstance(move, TruncatedMove)
    gaussian, walls = move.gaussian, move.gaussian.walls
    when = "evaluated when other variables change" if gaussian.varies else "computed once"
    lines = [FactorLine(f.name, "factor", "Gaussian", when, "", "") for f in block.factors]
    lines += [FactorLine(w.name, "prior", "bounds", when, "", "") for w in block.bounded]
    lines += _constraint_lines(block.constraints, walls)
    notes = []
    if not walls.region.is_convex:
        notes.append("The region is not convex: each flight is followed by a draw along a line.")
    low, high = assembly.motion.travel_time
    times = f"travel time {low:.3g}" if low == high else f"travel time {low:.3g} to {high:.3g}"
    options = f"{times}, {assembly.motion.trajectories} per draw, reflections at walls"
    if move.automatic:
        options = "flights with reflections at walls, and sweeps: a short trial decides how many"
    return Explanation(f"Gaussian weights {parts}; no indicators", left, lines, options, notes)


def _constraint_lines(constraints: Constraints, walls: Walls) -> list[FactorLine]:
    when = "evaluated when other variables change" if walls.varies else "computed once"
    lines = []
    for name in constraints.names:
        own = [wall for wall in constraints.walls if wall.name == name]
        kind = "linear" if all(wall.degree == 1 for wall in own) else "quadratic"
        count = sum(label == name for label in walls.labels)
        plural = "wall" if count == 1 else "walls"
        seen = ", weights that are off count as 0" if any(wall.gated for wall in own) else ""
        recognised = f"{count} {kind} {plural}{seen}"
        lines.append(FactorLine(name, "constraint", recognised, when, "", ""))
    return lines


def _options(assembly: Assembly) -> str:
    motion, move = assembly.motion, assembly.move
    low, high = motion.travel_time
    times = f"travel time {low:.3g}" if low == high else f"travel time {low:.3g} to {high:.3g}"
    options = f"{type(motion.augmentation).__name__} augmentation, {times}"
    if isinstance(move, BinaryMove):
        return f"{options}, {motion.trajectories} per draw"
    options += f", {move.kernel} kernel"
    options += ", weights integrated out" if move.collapsed else ""
    jumps = ", jumps that a Gaussian in place of the likelihood proposes"
    return options + (jumps if getattr(move, "proxy", None) is not None else "")


def _general_line(name: str, general: General) -> FactorLine:
    switched = isinstance(general, SwitchedBlock)
    path = SWITCHED if switched else GENERAL
    when = "computed when other variables change" if switched else "evaluated at each wall hit"
    return FactorLine(name, "with weights", path.recognised, when, path.per_hit, "")


def _likelihood_line(rv: Any, model: Model, assembly: Assembly) -> FactorLine:
    move, name = assembly.move, rv.name
    assert isinstance(move, GatedMove)
    rows = next(rows for rows in move.gaussian.rows if rows.name == name)
    when, recognised = "X'X computed once", "gated Gaussian"
    latent = next((x for x in move.gaussian.latents if x.name == name), None)
    if latent is not None:
        recognised = LATENTS[latent.scheme]
    if latent is not None and latent.changes_precision:
        when = "rows of X'X as needed, at each call"
    elif rows.X_varies:
        when = "evaluated at each call"
    elif move.gaussian.varies:
        when += ", rescaled at each call"
    found = GATED.recognised.format(likelihood=recognised)
    # A free variable may be the data of the weights.
    kind = "observed" if rv in model.observed_RVs else "prior"
    return FactorLine(name, kind, found, when, GATED.per_hit, "")


def _factor_line(factor: Factor, terms: list[RecognisedTerm]) -> FactorLine:
    forms = [form for form in FORMS if any(t.form is form for t in terms)]
    path = FORMS[forms[-1]]
    reach = max((t.dependence.reach for t in terms if t.dependence is not None), default=0)
    return FactorLine(
        factor.name,
        factor.kind,
        path.recognised.format(reach=reach),
        _when(terms),
        path.per_hit,
        next((t.reason for t in terms if t.reason and t.form is forms[-1]), ""),
    )


def _when(terms: list[RecognisedTerm]) -> str:
    if not all(t.constant for t in terms):
        return "evaluated at each call"
    if all(constant_scale(t.term.coefficient) is not None for t in terms):
        return "computed once"
    return "computed once, rescaled at each call"


def _notes(block: Block) -> list[str]:
    return [
        f"The potential {factor.name!r} has {factor.logp.type.ndim} dimension(s): its entries are "
        "added up, as PyMC does."
        for factor in block.factors
        if factor.kind == "potential" and factor.logp.type.ndim
    ]
