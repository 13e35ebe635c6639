"""The program `trainwarden`, which does the work: it submits, follows and stops jobs, and says how they stand."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Sequence
from typing import Any

from ._say import say

_WARNING = "trainwarden: warning: "


class ProgramError(RuntimeError):
    """The program said no.

    Attributes:
        exit_code: as docs/reference/cli.md has them; 2 for what is wrong with what was asked.
        message: what it printed on standard error.
    """

    def __init__(self, exit_code: int, message: str):
        super().__init__(message or f"trainwarden ended with exit code {exit_code}")
        self.exit_code = exit_code
        self.message = message


def find_program() -> str:
    """The path of the program: what TRAINWARDEN_PROGRAM names, else beside this Python, else in PATH.

    Raises:
        FileNotFoundError: there is none.
    """
    named = os.environ.get("TRAINWARDEN_PROGRAM")
    if named:
        return named
    for folder in (os.path.dirname(sys.executable), sysconfig.get_path("scripts")):
        path = os.path.join(folder, "trainwarden")
        if os.access(path, os.X_OK):
            return path
    found = shutil.which("trainwarden")
    if found is None:
        raise FileNotFoundError(
            "expected the program trainwarden beside this Python or in PATH; install the package trainwarden, "
            "or set TRAINWARDEN_PROGRAM to its path"
        )
    return found


def interpreter_path() -> str:
    """PATH, with this Python's folder first: jobs and rules of one's own run in this environment, also where nobody has
    activated it."""
    folder = os.path.dirname(sys.executable)
    path = os.environ.get("PATH", os.defpath)
    return os.pathsep.join([folder, path]) if os.access(os.path.join(folder, "python3"), os.X_OK) else path


def ask(*arguments: str, text: str = "") -> dict[str, Any]:
    """What the program answers in JSON to `arguments` with --json, when it reads `text`.

    Raises:
        ProgramError: it ended with another exit code than 0.
    """
    answer: dict[str, Any] = json.loads(call(*with_options(arguments, "--json"), text=text))
    return answer


def with_options(arguments: Sequence[str], *options: str) -> list[str]:
    """Also `options`: in front of "--", behind which there are none."""
    words = [*arguments]
    end = words.index("--") if "--" in words else len(words)
    words[end:end] = options
    return words


def call(*arguments: str, text: str = "") -> str:
    """What the program prints when it reads `text`. What `submit` warns of is said on the log.

    Raises:
        ProgramError: it ended with another exit code than 0.
    """
    done = subprocess.run(
        [find_program(), *arguments],
        input=text,
        capture_output=True,
        text=True,
        errors="replace",
        env={**os.environ, "PATH": interpreter_path()},
    )
    lines = done.stderr.strip().splitlines()
    if arguments[0] == "submit":
        for warning in (line for line in lines if line.startswith(_WARNING)):
            say(warning.removeprefix("trainwarden: "))
    if done.returncode != 0:
        raise ProgramError(done.returncode, _plain(line for line in lines if not line.startswith(_WARNING)))
    return done.stdout


def _plain(lines: Iterable[str]) -> str:
    """Its error without "trainwarden: error: "."""
    return "\n".join(line.removeprefix("trainwarden: error: ") for line in lines)
