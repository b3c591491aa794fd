"""Set up an environment and run something in it. Needs Python 3.11 or newer, nothing else.

    python3 run.py example [NAME]         run examples/NAME.py (spike_and_slab if none is named)
    python3 run.py gallery [NAMES]        run examples and renew their pictures in docs/
    python3 run.py test [PYTEST ARGS]     run the tests, but those marked slow
    python3 run.py benchmark [PARTS]      measure speed: what is small, or everything with --all
    python3 run.py validate [PART …]      run the slow suite: slow, mutants, fuzz, calibration
    python3 run.py lint                   check style, types and import layers
    python3 run.py docs [--outputs]       build docs/_build/html; renew what examples print
    python3 run.py package                build wheel and sdist, try them in an empty environment
    python3 run.py which VERSION          print the interpreter that VERSION stands for

    --python PATH_OR_VERSION              use another interpreter, for example 3.12

Environments live in .venv, one for each version of Python and another for its benchmarks. They are
made on first use and installed again when pyproject.toml has changed.
"""

# Written so that an old Python can read this file far enough to say that it is too old.

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent
OLDEST = (3, 11)
TRIED = ["3.11", "3.12", "3.13", "3.14"]
# Each level includes those before it.
LEVELS = ["package", "examples", "test", "dev", "docs"]
GALLERY = ROOT / "docs" / "figures" / "gallery"
# A palette makes a small file.
SHRINK = """
import sys
from PIL import Image
picture = Image.open(sys.argv[1]).convert("RGB")
picture.quantize(96).save(sys.argv[1], optimize=True)
"""


def main() -> int:
    """Do what the command line asks for."""
    args = sys.argv[1:]
    wanted = take_option(args, "--python")
    command = args.pop(0) if args else "help"
    if command in ("help", "-h", "--help"):
        print(__doc__)
        return 0
    if command not in COMMANDS:
        raise SystemExit(f"Unknown command {command!r}: use one of {', '.join(COMMANDS)}.")
    return COMMANDS[command](wanted, args)


def take_option(args: list, name: str) -> str:
    """Remove ``name VALUE`` or ``name=VALUE`` from args and return the value, or nothing."""
    for i, arg in enumerate(args):
        if arg.startswith(name + "="):
            return args.pop(i).partition("=")[2]
        if arg == name:
            if i + 1 == len(args):
                raise SystemExit(f"{name} needs a path or a version, for example {name} 3.12.")
            del args[i]
            return args.pop(i)
    return ""


def run_example(wanted: str, args: list) -> int:
    """Run one example script."""
    name = args.pop(0) if args else "spike_and_slab"
    script = ROOT / "examples" / (Path(name).stem + ".py")
    if not script.exists():
        known = sorted(path.stem for path in (ROOT / "examples").glob("*.py"))
        raise SystemExit(f"There is no example {name!r}. There are: {', '.join(known) or 'none'}.")
    python = environment(wanted, "examples")
    say(f"running examples/{script.name}")
    return call([python, str(script), *args])


def renew_gallery(wanted: str, args: list) -> int:
    """Run examples, all of them if none is named, and keep their pictures."""
    python = environment(wanted, "examples")
    failed = []
    for name in args or sorted(path.stem for path in (ROOT / "examples").glob("*.py")):
        picture = str(GALLERY / f"{name}.png")
        say(f"renewing docs/figures/gallery/{name}.png")
        script = str(ROOT / "examples" / f"{name}.py")
        if call([python, script, picture], MPLBACKEND="Agg") or call(
            [python, "-c", SHRINK, picture]
        ):
            failed.append(name)
    if failed:
        say(f"failed: {', '.join(failed)}")
    return 1 if failed else 0


def run_tests(wanted: str, args: list) -> int:
    """Run pytest, in parallel unless the arguments say otherwise."""
    python = environment(wanted, "test")
    chosen = any(arg.startswith(("-n", "--numprocesses", "--pdb")) for arg in args)
    workers = [] if chosen else ["-n", "auto", "--maxprocesses=8", "--dist=worksteal"]
    say("running pytest")
    # With several workers on one machine, threads inside each only get in each other's way.
    threads = ["OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"]
    env = dict.fromkeys(threads, "1")
    return call([python, "-m", "pytest", *workers, *args], MPLBACKEND="Agg", **env)


# Other samplers to compare with, and what pip is told for each. None is needed. millipede comes
# without its dependencies, because it pins a version of polyagamma that has no wheels any more.
PEERS = {
    "numpyro": ["numpyro"],
    "torch": ["torch==2.13.0"],
    "millipede": ["--no-deps", "millipede-regression"],
    "polyagamma": ["polyagamma", "tqdm"],
    "tmg-hmc": ["--no-deps", "tmg-hmc"],
}


def run_benchmarks(wanted: str, args: list) -> int:
    """Run the benchmarks, in an environment that has other samplers as well."""
    python = environment(wanted, "package", "-benchmark")
    install_peers(python)
    say("running the benchmarks")
    return call([python, str(ROOT / "benchmarks" / "everything.py"), *args])


def install_peers(python: str) -> None:
    """Install what can be installed, once, and say what cannot."""
    stamp = Path(python).parent.parent / "peers.txt"
    there = stamp.read_text().splitlines() if stamp.exists() else []
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    for name, wanted in PEERS.items():
        if name in there:
            continue
        say(f"installing {name} to compare with")
        if subprocess.run([*install, *wanted], capture_output=True).returncode:
            say(f"{name} could not be installed and is left out")
            continue
        there.append(name)
        stamp.write_text("\n".join(there))


def run_validation(wanted: str, args: list) -> int:
    """Run the slow suite and print its summary."""
    python = environment(wanted, "test")
    threads = ["OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"]
    env = dict.fromkeys(threads, "1")
    return call([python, "tests/validation.py", *args], MPLBACKEND="Agg", **env)


def run_lint(wanted: str, args: list) -> int:
    """Run every check, also after one has failed."""
    python = environment(wanted, "dev")
    tools = Path(python).parent
    checks = [
        ["ruff", "check", "."],
        ["ruff", "format", "--check", "."],
        ["mypy"],
        ["lint-imports"],
    ]
    failed = []
    for check in checks:
        say(" ".join(check))
        if call([str(tools / check[0]), *check[1:], *args]):
            failed.append(check[0])
    if failed:
        say(f"failed: {', '.join(failed)}")
    return 1 if failed else 0


def build_docs(wanted: str, args: list) -> int:
    """Bring generated tables up to date and build the documentation; warnings are errors."""
    python = environment(wanted, "docs")
    outputs = ["--outputs"] if "--outputs" in args else []
    say("bringing generated parts of README.md and docs/ up to date")
    if call([python, "docs/generate.py", *outputs], MPLBACKEND="Agg"):
        return 1
    say("building docs/_build/html")
    strict = ["--fail-on-warning", "--keep-going", "--nitpicky", "--fresh-env", "--quiet"]
    return call([python, "-m", "sphinx", *strict, "-b", "html", "docs", "docs/_build/html"])


def build_package(wanted: str, args: list) -> int:
    """Build sdist and wheel, install the wheel in an empty environment, and try it there."""
    python = environment(wanted, "dev")
    with tempfile.TemporaryDirectory() as folder:
        say("building the sdist, and the wheel from it")
        built = Path(folder) / "dist"
        quietly([python, "-m", "build", "--outdir", str(built), "."], "The build failed.")
        wheel, sdist = (str(next(built.glob(kind))) for kind in ("*.whl", "*.tar.gz"))
        say("installing the wheel in an empty environment (some minutes)")
        quietly([python, "-m", "venv", f"{folder}/empty"], "The environment was not created.")
        empty = str(python_of(Path(folder) / "empty"))
        install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel]
        quietly([empty, *install], "The installation failed.")
        say("trying it")
        return call([empty, "-I", ".ci/try_package.py", wheel, sdist])


def print_interpreter(wanted: str, args: list) -> int:
    """Print the path of an interpreter."""
    print(find_interpreter(wanted or (args[0] if args else ""))[0])
    return 0


COMMANDS = {
    "example": run_example,
    "gallery": renew_gallery,
    "test": run_tests,
    "benchmark": run_benchmarks,
    "validate": run_validation,
    "lint": run_lint,
    "docs": build_docs,
    "package": build_package,
    "which": print_interpreter,
}


def environment(wanted: str, level: str, suffix: str = "") -> str:
    """Return the Python of an environment with the package installed, made if need be."""
    base, version = find_interpreter(wanted)
    name = ".".join(version.split(".")[:2]) + suffix
    folder = ROOT / ".venv" / name
    python = python_of(folder)
    stamp = folder / "installed.txt"
    # An environment holds its own address: one that was moved or copied is made again.
    place, _, installed = stamp.read_text().partition("\n") if stamp.exists() else ("", "", "")
    if place != str(folder) or not python.exists():
        say(f"creating .venv/{name} with Python {version}")
        quietly([base, "-m", "venv", "--clear", str(folder)], "The environment was not created.")
        installed = ""
    digest = hashlib.sha256((ROOT / "pyproject.toml").read_bytes()).hexdigest()
    if installed not in [f"{digest} {enough}" for enough in LEVELS[LEVELS.index(level) :]]:
        say(f"installing into .venv/{name} (some minutes the first time)")
        target = "." if level == "package" else f".[{level}]"
        install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--editable"]
        quietly([str(python), *install, target], "The installation failed.")
        stamp.write_text(f"{folder}\n{digest} {level}")
    return str(python)


def python_of(folder: Path) -> Path:
    """Return the interpreter of an environment."""
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def find_interpreter(wanted: str) -> tuple:
    """Return (path, version) of the interpreter asked for, by default the one running."""
    if not wanted and sys.version_info >= OLDEST:
        return sys.executable, "{}.{}.{}".format(*sys.version_info)
    for candidate in candidates(wanted):
        version = version_of(candidate)
        if tuple(map(int, version.split("."))) >= OLDEST:
            if not wanted:
                say(f"Python {sys.version.split()[0]} is too old, using {version} instead")
            return candidate, version
    oldest = ".".join(map(str, OLDEST))
    if wanted:
        raise SystemExit(f"No working Python {wanted}, at least {oldest}, on this machine.")
    raise SystemExit(
        f"Python {oldest} or newer is needed, and this one is {sys.version.split()[0]}. Install "
        "a newer one, or name it: python3 run.py test --python PATH"
    )


def candidates(wanted: str) -> list:
    """Return paths at which the interpreter may be: on the PATH, or one of pyenv's."""
    if wanted and not wanted[0].isdigit():
        return [shutil.which(wanted) or str(Path(wanted).absolute())]
    found = []
    for version in [wanted] if wanted else TRIED:
        on_path = shutil.which("python" + version)
        found += [on_path] if on_path else []
        exact = sorted(pyenv_versions().glob(version), reverse=True)
        patches = sorted(pyenv_versions().glob(version + ".*"), key=patch_number, reverse=True)
        found += [str(folder / "bin" / "python") for folder in exact + patches]
    return found


def pyenv_versions() -> Path:
    """Return the folder of pyenv's interpreters, which need not exist."""
    root = output(["pyenv", "root"]) or str(Path.home() / ".pyenv")
    return Path(root) / "versions"


def patch_number(folder: Path) -> int:
    """Return 7 for a folder named 3.11.7, and -1 for a name such as 3.13.0rc1."""
    last = folder.name.rpartition(".")[2]
    return int(last) if last.isdigit() else -1


def version_of(python: str) -> str:
    """Return the version of an interpreter, 0 if it does not run (as an unset pyenv shim)."""
    return output([python, "-c", "import sys; print('%d.%d.%d' % sys.version_info[:3])"]) or "0"


def output(command: list) -> str:
    """Return what a command prints, or nothing if it fails."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    except OSError:
        return ""
    return "" if done.returncode else done.stdout.decode().strip()


def quietly(command: list, failure: str) -> None:
    """Run a command whose output matters only if it fails."""
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        raise SystemExit(f"{done.stdout.decode(errors='replace').strip()}\n{failure}")


def call(command: list, **env: str) -> int:
    """Run a command in the repository, with ``env`` set, and return its exit code."""
    try:
        return subprocess.run(command, cwd=ROOT, env={**os.environ, **env}).returncode
    except KeyboardInterrupt:
        return 130


def say(line: str) -> None:
    """Print a line of progress."""
    print(f"[run] {line}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
