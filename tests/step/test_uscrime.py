"""Real data: UScrime, all 2¹⁵ models, by every kernel that fits."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from support.significance import assert_holds, batch_pvalues
from support.speed import slow_but

from pymc_exact_hmc import ExactBinaryHMC

SEED = 5
EXAMPLE = Path(__file__).parents[2] / "examples" / "uscrime.py"


class Crime:
    """The example's data and model, with all models' probabilities."""

    def __init__(self):
        spec = importlib.util.spec_from_file_location("uscrime", EXAMPLE)
        example = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(example)
        names, self.X, self.y = example.read_data()
        self.sigma, self.slab = example.noise_scale(self.X, self.y), example.SLAB
        self.model = example.selection(names, self.X, self.y, self.sigma)
        self.included, self.p = example.model_probabilities(self.X, self.y, self.sigma)

    def exact_draw(self, rng):
        """Draw (s, w) from the posterior."""
        s = self.included[rng.choice(self.p.size, p=self.p)]
        w = self.slab * rng.standard_normal(s.size)
        X = self.X[:, s == 1] / self.sigma
        precision = X.T @ X + np.eye(X.shape[1]) / self.slab**2
        mean = np.linalg.solve(precision, X.T @ self.y / self.sigma)
        noise = np.linalg.solve(np.linalg.cholesky(precision).T, rng.standard_normal(mean.size))
        w[s == 1] = mean + noise
        return s, w


@pytest.fixture(scope="module")
def crime():
    return Crime()


@pytest.mark.parametrize(
    ("options", "draws"),
    [
        pytest.param({}, 20_000, id="sheared"),
        pytest.param({"inclusion": True}, 5_000, id="Rao-Blackwell", marks=pytest.mark.slow),
        pytest.param({"augmentation": "exponential"}, 10_000, id="exponential"),
    ],
)
def test_inclusion_probabilities_are_exact(crime, options, draws):
    """Inclusion probabilities, also as averages of Rao–Blackwell ones, are those of 2¹⁵ models."""
    with crime.model:
        step = ExactBinaryHMC(**options)
    step.set_rng(np.random.default_rng(SEED))
    point, found = crime.model.initial_point(), []
    for _ in range(draws):
        point, (report,) = step.step(point)
        found.append(report.get("ehmc_inclusion", point["gamma"]).copy())
    exact = crime.p @ crime.included
    assert_holds(*batch_pvalues(np.array(found, float), exact), seed=SEED)


@pytest.mark.parametrize("kernel", slow_but(["sheared"], ["sheared", "paper", "general"]))
def test_kernels_keep_exact_draws_exact(crime, kernel):
    """From exact draws, three calls later, s and s·w still have the exact distribution.

    The paper's kernel mixes too slowly here to be judged by one long chain.
    """
    starts = 400 if kernel == "general" else 4000
    with crime.model:
        step = ExactBinaryHMC(kernel=kernel)
    rng = np.random.default_rng(SEED)
    step.set_rng(rng)
    start = crime.model.initial_point()
    step.step(start)
    before, after, changed = [], [], 0
    for _ in range(starts):
        s, w = crime.exact_draw(rng)
        before.append(s * w)
        point = start | {"gamma": s.astype(start["gamma"].dtype), "w": w}
        for _ in range(3):
            point, _ = step.step(point)
        changed += not np.array_equal(point["gamma"], s)
        after.append(np.concatenate([point["gamma"], point["gamma"] * point["w"]]))
    after, d = np.array(after), crime.included.shape[1]
    counts = after[:, :d].sum(axis=0).astype(int)
    exact = np.clip(crime.p @ crime.included, 0, 1)
    pvalues = [stats.binomtest(k, starts, p).pvalue for k, p in zip(counts, exact, strict=True)]
    pvalues += [
        stats.ks_2samp(a, b).pvalue for a, b in zip(np.array(before).T, after[:, d:].T, strict=True)
    ]
    assert_holds(*pvalues, seed=SEED)
    assert changed > starts / 20
