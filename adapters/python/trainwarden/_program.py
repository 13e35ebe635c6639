"""The program `trainwarden`, which does what is not done in this process: it submits, follows and stops jobs. For this
package, and for those that stand on it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Mapping
from typing import Any, Optional

from . import errors

_USAGE = 2  # docs/reference/cli.md, "Exit codes"
_PREFIXES = ("trainwarden: error: ", "trainwarden: ")


def find() -> str:
    """Its path: what TRAINWARDEN_PROGRAM names, else beside this Python, else in PATH. PathNotFound: there is none."""
    named = os.environ.get("TRAINWARDEN_PROGRAM")
    if named:
        return named
    for folder in (os.path.dirname(sys.executable), sysconfig.get_path("scripts")):
        path = os.path.join(folder, "trainwarden")
        if os.access(path, os.X_OK):
            return path
    found = shutil.which("trainwarden")
    if found is None:
        raise errors.PathNotFound(
            "expected the program trainwarden beside this Python or in PATH; install the package trainwarden, "
            "or set TRAINWARDEN_PROGRAM to its path"
        )
    return found


def run(
    *words: str, text: str = "", environment: Optional[Mapping[str, str]] = None
) -> subprocess.CompletedProcess[str]:
    """Its exit code and what it prints when it reads `text`. `environment`: of the process; ours without it."""
    return subprocess.run(
        [find(), *words], input=text, capture_output=True, text=True, errors="replace", env=environment
    )


def ask(*words: str, text: Optional[str] = None, fine: tuple[int, ...] = (0,)) -> Any:
    """What it answers with --json. `text` is its standard input, `fine` the exit codes that are no error.

    InvalidArgument when it says that something is wrong with what was asked, FailedPrecondition for all else.
    """
    done = run(*words, "--json", text=text or "")
    if done.returncode not in fine or not done.stdout.strip():
        kind = errors.InvalidArgument if done.returncode == _USAGE else errors.FailedPrecondition
        raise kind(plain(done.stderr) or f"trainwarden {words[0]} ended with exit code {done.returncode}")
    return json.loads(done.stdout)


def plain(text: str) -> str:
    """What it says on standard error, without its name in front."""
    lines = []
    for line in text.strip().splitlines():
        prefix = next((each for each in _PREFIXES if line.startswith(each)), "")
        lines.append(line[len(prefix) :])
    return "\n".join(lines)
