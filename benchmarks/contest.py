"""One peer on one case with one seed, in a process of its own: writes a JSON file.

    python benchmarks/contest.py CASE PEER SEED full|quick|filling OUTPUT [REFERENCE]

REFERENCE is the file of the first peer, which says which indicators count. "filling" is a run of a
few draws, which fills the caches on disk.
"""

import importlib
import json
import sys
from pathlib import Path

import numpy as np
from cases import CASES
from effective import weighted_size
from paper_regression import Chosen
from peers import PEERS


def summary(series, weights, kind):
    """Return mean, standard error and effective size of each column."""
    series = np.asarray(series, float)
    mean, variance, size = weighted_size(series, weights)
    if kind == "indicators" and series.min() >= 0.0:
        # Also where a peer averages probabilities: as many draws of the indicator are worth.
        spread = variance / size
        variance = mean * (1 - mean)
        size = np.divide(variance, spread, out=np.full_like(mean, 0.5), where=spread > 0)
    error = np.sqrt(np.maximum(variance, 0) / np.maximum(size, 1e-9))
    return {"mean": mean.tolist(), "error": error.tolist(), "size": size.tolist()}


def contest(case_name, peer_name, seed, kind, reference=None):
    """Run a peer, and summarise what it drew by kind."""
    case, peer = CASES[case_name](seed), PEERS[peer_name]
    run = importlib.import_module(f"peers.{peer.module}").run
    draws, tune = peer.draws(case_name, kind)
    found = run(case, draws, tune, seed)
    chosen = read_chosen(reference) if reference else case.choose(found.values)
    weights = np.ones(draws) if found.weights is None else found.weights
    kinds = {
        name: summary(series, weights, name)
        for name, series in case.kinds(found.values, chosen).items()
        if series.shape[1]
    }
    return {
        "draws": draws,
        "seconds": found.seconds,
        "whole": found.whole,
        "kinds": kinds,
        "chosen": as_lists(chosen),
    }


def as_lists(chosen):
    """Return what counts in a form that JSON has: nothing, or one or two lists of places."""
    if chosen is None:
        return None
    parts = [chosen] if isinstance(chosen, np.ndarray) else chosen
    return [part.tolist() for part in parts]


def read_chosen(reference):
    parts = json.loads(Path(reference).read_text())["chosen"]
    if parts is None:
        return None
    arrays = [np.array(part, int) for part in parts]
    return arrays[0] if len(arrays) == 1 else Chosen(*arrays)


def main():
    case, peer, seed, kind, output, *reference = sys.argv[1:]
    result = contest(case, peer, int(seed), kind, *reference)
    Path(output).write_text(json.dumps(result))


if __name__ == "__main__":
    main()
