"""Merge terms of one form, so that one function evaluates all of them."""

from __future__ import annotations

from itertools import groupby

import pytensor.tensor as pt
import scipy.sparse as sp

from pymc_exact_hmc.model.dependence import Dependence
from pymc_exact_hmc.model.forms import Form, RecognisedTerm, plan_term_probes
from pymc_exact_hmc.model.sources import constant_scale
from pymc_exact_hmc.model.terms import Term


def merge_terms(terms: list[RecognisedTerm]) -> list[RecognisedTerm]:
    """Merge what can be evaluated together; keep apart what is rescaled on its own."""
    ordered = sorted(terms, key=_group)
    merged: list[RecognisedTerm] = []
    for (alone, *_), members in groupby(ordered, key=_group):
        group = list(members)
        merged.extend(group if alone or len(group) == 1 else _merge(group))
    return merged


def _group(recognised: RecognisedTerm) -> tuple[bool, str, bool, bool]:
    rescaled = recognised.constant and constant_scale(recognised.term.coefficient) is None
    alone = rescaled or recognised.form in (Form.MULTILINEAR, Form.GENERIC)
    dependence = recognised.dependence
    wide = recognised.form is Form.LOCAL and dependence is not None and dependence.reach > 2
    return alone, recognised.form.name, recognised.constant, wide


def _merge(group: list[RecognisedTerm]) -> list[RecognisedTerm]:
    first = group[0]
    entries = [t.term.coefficient * t.term.tensor.ravel().astype("float64") for t in group]
    names = " + ".join(dict.fromkeys(t.term.factor for t in group))
    known = [t.dependence for t in group if t.dependence is not None]
    dependence = Dependence(
        sp.csr_array(sp.vstack([x.support for x in known])),
        max(x.degree for x in known),
        all(x.multilinear for x in known),
    )
    probes = None
    if first.form is Form.LOCAL:
        probes = plan_term_probes(dependence, constant=first.constant)
        if probes is None:
            return group
    term = Term(names, pt.constant(1.0), pt.concatenate(entries))
    return [RecognisedTerm(term, first.form, dependence, first.constant, "", probes)]
