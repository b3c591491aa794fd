"""Bring what is generated in README.md and docs/ up to date, from the package's own tables.

    python docs/generate.py [--outputs]

Text between ``<!-- generated: NAME -->`` and ``<!-- end -->`` is replaced by TABLES[NAME](). With
--outputs, so is every ``output`` block, by what the Python block before it prints. The tests check
both.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
REGION = re.compile(r"(<!-- generated: (\w+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def main() -> None:
    """Rewrite the pages that have changed."""
    sys.path.insert(0, str(ROOT / "tests" / "docs"))
    from blocks import with_outputs

    for page in PAGES:
        before = page.read_text()
        after = with_tables(before)
        if "--outputs" in sys.argv and "```output\n" in after:
            after = with_outputs(after)
        if after != before:
            page.write_text(after)
            print(f"{page.relative_to(ROOT)} has changed")


def with_tables(text: str) -> str:
    """Return a page with its generated parts as they should be."""
    return REGION.sub(lambda found: f"{found[1]}{TABLES[found[2]]()}\n{found[4]}", text)


def recognised() -> str:
    """Return the forms of log-probabilities, from the table that ``explain`` uses."""
    from pymc_exact_hmc.catalogue import PATHS

    rows = [(p.name, p.example, p.hit, p.crossing) for p in PATHS]
    head = ("log-probability, as a function of the indicators", "example", "wall hit", "crossing")
    return table(head, rows)


LIKELIHOODS = {
    'pm.Normal("y", eta, sigma, observed=y)': "",
    'pm.MvNormal("y", eta, covariance, observed=y)': "",
    'pm.StudentT("y", nu=4, mu=eta, sigma=sigma, observed=y)': "",
    'pm.Laplace("y", mu=eta, b=sigma, observed=y)': "",
    'pm.AsymmetricLaplace("y", q=0.9, mu=eta, b=sigma, observed=y)': "",
    'pm.Censored("y", pm.Normal.dist(eta, sigma), lower=0, upper=None, observed=y)': "",
    'pm.Bernoulli("y", p=pm.math.invprobit(eta), observed=y > 0)': "probit",
    'pm.Bernoulli("y", logit_p=eta, observed=y > 0)': "logit",
    'pm.Binomial("y", n=9, logit_p=eta, observed=counts)': "logit",
    'pm.NegativeBinomial("y", mu=pm.math.exp(eta), alpha=2, observed=counts)': "logit",
}
"""Likelihoods as they are written, and the link of those that have one."""


def likelihoods() -> str:
    """Return the likelihoods, with what the recogniser makes of each."""
    import numpy as np
    import pymc as pm

    from pymc_exact_hmc.explain import LATENTS
    from pymc_exact_hmc.model.families import latent_parameters, split_likelihood

    rows = []
    for source, link in LIKELIHOODS.items():
        with pm.Model() as model:
            names = {
                "pm": pm, "eta": pm.Normal("eta", shape=3), "sigma": 1.0, "y": np.ones(3),
                "covariance": np.eye(3), "counts": np.ones(3, int),
            }  # fmt: skip
            likelihood = eval(source, names)
        parts = split_likelihood(likelihood)
        scheme, _ = latent_parameters(parts, link, model.rvs_to_values[likelihood])
        rows.append((f"`{source}`", LATENTS.get(scheme, "Gaussian as it is")))
    return table(("outcome", "treated as"), rows)


def binaries() -> str:
    """Return the kinds of binary variables, from the sentence that refuses others."""
    import pymc as pm

    from pymc_exact_hmc.model.binaries import nothing_to_take

    sentence = nothing_to_take(pm.Model(), [], {})
    kinds = re.search(r"It takes (.*?) variables, and", sentence)
    return f"The step takes {kinds[1]} variables, of any shape."


def options() -> str:
    """Return the options of the step, from its docstring and signature."""
    from pymc_exact_hmc import ExactBinaryHMC

    section = inspect.getdoc(ExactBinaryHMC).split("Parameters\n----------\n")[1]
    defaults = inspect.signature(ExactBinaryHMC.__init__).parameters
    entries = re.findall(r"^(\w+)\n((?:    .*\n?|\n)+)", section, re.MULTILINE)
    lines = []
    for name, text in entries:
        default = defaults[name].default
        words = " ".join(text.split()).replace("``", "`")
        lines.append(f"`{name}={default!r}`\n: {words}\n")
    return "\n".join(lines)


def stats() -> str:
    """Return the sampler statistics, from their own table."""
    from pymc_exact_hmc.stats import MEANING, STATS

    types = {name: getattr(kind, "__name__", "") for name, (kind, _) in STATS.items()}
    rows = [
        (f"`{name}`", types.get(name, "float64, one per indicator"), meaning)
        for name, meaning in MEANING.items()
    ]
    return table(("name", "type", "meaning"), rows)


def gallery() -> str:
    """Return the examples: title, what they show, picture, code."""
    entries = []
    for script in sorted((ROOT / "examples").glob("*.py")):
        text = ast.get_docstring(ast.parse(script.read_text())) or script.stem
        title, _, rest = text.partition("\n")
        # What follows is how to call the script.
        rest = re.split(r"\n {4}python ", rest)[0].strip()
        picture = ROOT / "docs" / "figures" / "gallery" / f"{script.stem}.png"
        entry = [f"## {title.rstrip('.')}\n"]
        if picture.exists():
            entry.append(f"![{title.rstrip('.')}](figures/gallery/{picture.name})\n")
        if rest:
            entry.append(f"{rest}\n")
        entry.append(
            f"`python3 run.py example {script.stem}` · [code](../examples/{script.name})\n"
        )
        entries.append("\n".join(entry))
    return "\n".join(entries)


TABLES = {
    "binaries": binaries,
    "gallery": gallery,
    "likelihoods": likelihoods,
    "options": options,
    "recognised": recognised,
    "stats": stats,
}


def table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """Return a Markdown table."""
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


if __name__ == "__main__":
    main()
