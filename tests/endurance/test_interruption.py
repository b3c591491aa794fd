"""Chains that are interrupted, resumed, killed, spread over processes, or in single precision."""

import os
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import numpy as np
import pymc as pm
import pytest

import pymc_exact_hmc
from pymc_exact_hmc import ExactBinaryHMC

PLACE = str(Path(pymc_exact_hmc.__file__).parents[1])
QUIET = {"progressbar": False, "compute_convergence_checks": False, "random_seed": 3}
MODEL = """
import logging
import numpy as np
import pymc as pm
from pymc_exact_hmc import ExactBinaryHMC

X = np.random.default_rng(1).normal(size=(20, 3))

def model():
    with pm.Model() as m:
        gamma = pm.Bernoulli("gamma", 0.4, shape=3)
        w = pm.HalfNormal("w", 1.0, shape=3)
        pm.Normal("y", X @ (gamma * w), 1.0, observed=X @ [1.0, 0.0, 0.5])
    return m
"""


def regression():
    space = {}
    exec(MODEL, space)
    return space["model"]()


def test_ctrl_c_returns_the_draws_so_far(caplog):
    """An interrupted pm.sample gives back what it has drawn, not an error."""
    interrupted = threading.Event()

    def callback(trace, draw):
        if draw.draw_idx == 50 and not interrupted.is_set():
            interrupted.set()
            raise KeyboardInterrupt

    with regression():
        idata = pm.sample(
            5000, tune=0, chains=1, cores=1, step=ExactBinaryHMC(), callback=callback, **QUIET
        )
    assert interrupted.is_set()
    assert 40 <= idata.posterior.sizes["draw"] <= 60
    assert np.isfinite(idata.posterior["w"]).all()


def test_a_chain_goes_on_from_its_state():
    """From a saved sampling_state and point the same draws follow, and again after a pickle."""
    model = regression()
    with model:
        step, other = ExactBinaryHMC(), ExactBinaryHMC()
    step.set_rng(np.random.default_rng(8))
    point = model.initial_point()
    for _ in range(120):
        point, _ = step.step(point)
    state = step.sampling_state
    there, after = dict(point), []
    for _ in range(60):
        point, _ = step.step(point)
        after.append({k: v.copy() for k, v in point.items()})
    other.sampling_state = state
    point = there
    for expected in after:
        point, _ = other.step(point)
        for name, value in expected.items():
            np.testing.assert_allclose(point[name], value, rtol=1e-6, atol=1e-9)


KILLED = MODEL + textwrap.dedent(
    """
    import os, signal

    def callback(trace, draw):
        # In the parent: the children have sent their first draws, so they are at work.
        import multiprocessing
        for child in multiprocessing.active_children():
            os.kill(child.pid, signal.SIGKILL)

    if __name__ == "__main__":
        with model():
            try:
                pm.sample(200_000, tune=0, chains=2, cores=2, step=ExactBinaryHMC(),
                          callback=callback, progressbar=False, random_seed=1)
            except Exception as error:
                print("REPORTED", type(error).__name__)
    """
)


def test_a_killed_worker_is_reported():
    """A worker that dies ends pm.sample with an error; it does not hang."""
    done = run(KILLED)
    assert "REPORTED" in done.stdout, done.stdout + done.stderr


SPREAD = MODEL + textwrap.dedent(
    """
    import sys

    if __name__ == "__main__":
        logging.getLogger("pymc").setLevel(logging.ERROR)
        with model():
            idata = pm.sample(30, tune=5, chains=8, cores=int(sys.argv[2]), step=ExactBinaryHMC(),
                              mp_ctx=sys.argv[1], progressbar=False, random_seed=1,
                              compute_convergence_checks=False)
        print("SUM", idata.posterior["gamma"].values.sum(axis=(1, 2)).tolist(),
              idata.posterior["w"].values.sum().round(6))
    """
)


def run(code, *arguments, folder=None, **environment):
    env = {**os.environ, "PYTHONPATH": PLACE, **environment}
    import tempfile

    with tempfile.TemporaryDirectory() as place:
        script = Path(place) / "script.py"
        script.write_text(code)
        command = [sys.executable, "-W", "ignore", str(script), *arguments]
        return subprocess.run(
            command, env=env, capture_output=True, text=True, timeout=560, check=False
        )


@pytest.mark.slow
def test_eight_chains_on_two_cores():
    """Forked over two cores, or one after the other: the same draws."""
    results = [run(SPREAD, "fork", cores) for cores in ("2", "1")]
    lines = [
        next((x for x in r.stdout.splitlines() if x.startswith("SUM")), r.stderr) for r in results
    ]
    assert lines[0].startswith("SUM")
    assert lines[0] == lines[1]


@pytest.mark.slow
def test_spawned_chains():
    """Spawned workers draw what forked ones draw."""
    results = [run(SPREAD, method, "2") for method in ("spawn", "fork")]
    lines = [
        next((x for x in r.stdout.splitlines() if x.startswith("SUM")), r.stderr) for r in results
    ]
    assert lines[0].startswith("SUM")
    assert lines[0] == lines[1]


SINGLE = MODEL + textwrap.dedent(
    """
    if __name__ == "__main__":
        logging.getLogger("pymc").setLevel(logging.ERROR)
        with model():
            idata = pm.sample(3000, tune=200, chains=2, cores=1, step=ExactBinaryHMC(),
                              progressbar=False, random_seed=1, compute_convergence_checks=False)
        assert str(idata.posterior["w"].dtype) == "float32", idata.posterior["w"].dtype
        print("MEAN", *idata.posterior["gamma"].values.mean(axis=(0, 1)).round(4))
    """
)


@pytest.mark.slow
def test_single_precision():
    """With floatX = float32 the step works, and inclusion agrees with double precision."""
    found = {}
    for kind in ("float32", "float64"):
        flags = ",".join(filter(None, [os.environ.get("PYTENSOR_FLAGS", ""), f"floatX={kind}"]))
        code = SINGLE if kind == "float32" else SINGLE.replace('== "float32"', '== "float64"')
        done = run(code, PYTENSOR_FLAGS=flags)
        assert "MEAN" in done.stdout, done.stdout + done.stderr
        found[kind] = np.array(done.stdout.split("MEAN")[1].split()[:3], float)
    # Two chains of 3000 draws each: errors of at most 0.5/√1000 at an effective size of 1000.
    np.testing.assert_allclose(found["float32"], found["float64"], atol=6 * 0.5 / np.sqrt(1000))
