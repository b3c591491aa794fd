"""Measurements that need a fresh process. Called by the benchmarks, prints numbers.

python benchmarks/child.py start ours|pymc     seconds from the first import to the first draw
python benchmarks/child.py memory ours|empty   peak memory in MB
python benchmarks/child.py wide D              seconds per draw with D columns, peak memory in MB
python benchmarks/child.py first-draw ours     seconds from pm.sample to the first draw
"""

import sys
import time
from pathlib import Path


def seconds_to_first_draw(ours):
    start = time.perf_counter()
    import pymc as pm
    from models import ising_ring

    first = []

    def note(trace, draw):
        if not first:
            first.append(time.perf_counter() - start)

    with ising_ring():
        if ours:
            from pymc_exact_hmc import ExactBinaryHMC

            step = ExactBinaryHMC()
        else:
            step = pm.BinaryMetropolis([pm.modelcontext(None)["x"]])
        pm.sample(
            10,
            tune=0,
            chains=1,
            cores=1,
            step=step,
            callback=note,
            progressbar=False,
            quiet=True,
            compute_convergence_checks=False,
        )
    return first[0]


def peak_memory(ours):
    from models import empty_torus, ising_torus

    if ours:
        from pymc_exact_hmc import ExactBinaryHMC

        model = ising_torus()
        step = ExactBinaryHMC(model=model)
        point = model.initial_point()
        for _ in range(100):
            point, _ = step.step(point)
    else:
        empty_torus().initial_point()
    return own_peak()


def wide_regression(d):
    """Seconds per draw of a whole step with d columns and 200 rows, and peak memory."""
    import numpy as np
    import pymc as pm

    from pymc_exact_hmc import ExactBinaryHMC

    rng = np.random.default_rng(2)
    X = rng.normal(size=(200, d))
    z = X[:, :10] @ np.linspace(1.0, 3.0, 10) + rng.normal(size=200)
    with pm.Model() as model:
        gamma = pm.Bernoulli("gamma", 10 / d, shape=d)
        pm.Normal("z", X @ (gamma * pm.Normal("w", 0, 1, shape=d)), 1.0, observed=z)
        step = ExactBinaryHMC()
    step.set_rng(rng)
    point = model.initial_point()
    for k in range(250):
        if k == 50:
            began = time.perf_counter()
        point, _ = step.step(point)
    return f"{(time.perf_counter() - began) / 200} {own_peak()}"


def seconds_from_sample():
    import numpy as np
    import pymc as pm
    from paper_regression import paper_data, unknown_scales

    from pymc_exact_hmc import ExactBinaryHMC

    model = unknown_scales(*paper_data(0.1, np.random.default_rng(1)), truncated=True)
    first = []
    start = time.perf_counter()

    def note(trace, draw):
        if not first:
            first.append(time.perf_counter() - start)

    with model:
        pm.sample(
            10, tune=0, chains=1, cores=1, step=ExactBinaryHMC(), callback=note,
            progressbar=False, quiet=True, compute_convergence_checks=False,
        )  # fmt: skip
    return first[0]


def own_peak():
    """Return the peak memory of this process in MB."""
    # Linux lets a new program inherit ru_maxrss from the process that started it, if larger.
    status = Path("/proc/self/status")
    if status.exists():
        (line,) = [x for x in status.read_text().splitlines() if x.startswith("VmHWM")]
        return int(line.split()[1]) / 1e3
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1e6 if sys.platform == "darwin" else 1e3)


if __name__ == "__main__":
    ours = sys.argv[2] == "ours"
    measures = {
        "start": lambda: seconds_to_first_draw(ours),
        "memory": lambda: peak_memory(ours),
        "wide": lambda: wide_regression(int(sys.argv[2])),
        "first-draw": seconds_from_sample,
    }
    print(measures[sys.argv[1]]())
