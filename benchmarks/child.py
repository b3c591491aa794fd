"""Measurements that need a fresh process. Called by the benchmarks, prints one number.

python benchmarks/child.py start ours|pymc     seconds from the first import to the first draw
python benchmarks/child.py memory ours|empty   peak memory in MB
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
    measure = {"start": seconds_to_first_draw, "memory": peak_memory}[sys.argv[1]]
    print(measure(sys.argv[2] == "ours"))
