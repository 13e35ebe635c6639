"""python -m trainwarden [options] train.py [arguments]: runs a Python program, captured, without a changed line.

The program takes this process over, so that its arguments, exit code, signals and output are what they are without us.
trainwarden_attach.pth, which was installed beside this package, attaches to it and to all its children.
"""

from __future__ import annotations

import argparse
import os
import site
import sys

from ._run_names import new_run_dir, runs_folder

_PTH = "trainwarden_attach.pth"
_USAGE = """python -m trainwarden [options] train.py [arguments]
       python -m trainwarden [options] -m module [arguments]"""
_NOT_INSTALLED = "expected {} in a folder for packages of {}; install trainwarden there: pip install ."


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m trainwarden", usage=_USAGE)
    parser.add_argument("--name", help="name of the run (default: made from the time and the program)")
    parser.add_argument("--runs", help="folder that holds the runs (default: TRAINWARDEN_RUNS, else ./runs)")
    parser.add_argument("--config", help="what to capture, as a JSON file (docs/reference/config.md)")
    parser.add_argument("--budget", help='share of the training\'s time that capture may take: "1%%" or "0.01"')
    parser.add_argument("-m", dest="module", action="store_true", help="what follows is a module, not a file")
    parser.add_argument("program", help="the program; all that follows belongs to it")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    return parser


def _run_dir(options: argparse.Namespace) -> str:
    if options.name:
        return os.path.join(runs_folder(options.runs), options.name)
    program = options.program if options.module else os.path.splitext(os.path.basename(options.program))[0]
    return new_run_dir(program, options.runs)


def _environment(options: argparse.Namespace) -> dict[str, str]:
    environment = {**os.environ, "TRAINWARDEN_ATTACH": "1", "TRAINWARDEN_RUN_DIR": _run_dir(options)}
    if options.config:
        environment["TRAINWARDEN_CONFIG"] = os.path.abspath(options.config)
    if options.budget:
        environment["TRAINWARDEN_BUDGET"] = options.budget
    return environment


def _interpreter_options() -> list[str]:
    """What this interpreter was given before `-m trainwarden`: -X, -W, -u, ..."""
    given = sys.orig_argv[1:] if sys.version_info >= (3, 10) else []
    for index, word in enumerate(given):
        if word == "-mtrainwarden" or given[index : index + 2] == ["-m", "trainwarden"]:
            return given[:index]
    return []


def _is_installed() -> bool:
    folders = [*site.getsitepackages(), site.getusersitepackages()]
    return any(os.path.exists(os.path.join(folder, _PTH)) for folder in folders)


def main() -> None:
    """Becomes the program. Returns only when it cannot."""
    parser = _parser()
    options = parser.parse_args()
    if not _is_installed():
        parser.error(_NOT_INSTALLED.format(_PTH, sys.executable))
    if options.config and not os.path.exists(options.config):
        parser.error(f"there is no file {options.config}")
    what = ["-m", options.program] if options.module else [options.program]
    sys.stdout.flush()
    command = [sys.executable, *_interpreter_options(), *what, *options.arguments]
    os.execve(sys.executable, command, _environment(options))


if __name__ == "__main__":
    main()
