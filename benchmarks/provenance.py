"""What a run was made with: commit, machine and versions, kept beside its results."""

import importlib.metadata
import json
import os
import platform
import subprocess
from datetime import date
from pathlib import Path

HERE = Path(__file__).parent
PACKAGES = ("pymc", "pytensor", "numba", "numpy", "scipy")
PEERS = ("numpyro", "jax", "millipede-regression", "torch", "tmg-hmc")


def version(name):
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def commit():
    """Return the commit, with a plus sign if sources have changed since."""
    try:
        short = _git("rev-parse", "--short", "HEAD")
        changed = _git("status", "--porcelain", "--", "../pymc_exact_hmc", "*.py", "peers")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return short + ("+" if changed else "")


def _git(*arguments):
    command = ["git", *arguments]
    return subprocess.run(
        command, cwd=HERE, capture_output=True, text=True, check=True
    ).stdout.strip()


def provenance(**more):
    """Return a record of this run."""
    return {
        "date": str(date.today()),
        "commit": commit(),
        "cores": os.cpu_count(),
        "machine": f"{platform.machine()}, {platform.system()}",
        "python": platform.python_version(),
        "versions": {name: version(name) for name in PACKAGES},
        "peers": {name: version(name) for name in PEERS},
        **more,
    }


def caption(record):
    """Return one line about a run."""
    versions = record["versions"] | (record["peers"] if record.get("with_peers") else {})
    packages = ", ".join(f"{name} {number}" for name, number in versions.items())
    kind = "; a quick run, whose numbers mean little" if record.get("quick") else ""
    return (
        f"Run of {record['date']}, commit {record['commit']}, {record['cores']} cores, "
        f"{record['machine']}; Python {record['python']}, {packages}{kind}."
    )


def write_record(folder, name, record):
    path = Path(folder) / f"{name}.json"
    path.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def read_record(folder, name):
    return json.loads((Path(folder) / f"{name}.json").read_text(encoding="utf-8"))
