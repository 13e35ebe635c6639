"""The program `trainwarden`, which does the work: it submits, follows and stops jobs, and says how they stand."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
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
    path: str = _package().find()
    return path


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
    done = _package().run(*arguments, text=text, environment={**os.environ, "PATH": interpreter_path()})
    lines = done.stderr.strip().splitlines()
    warnings = [line for line in lines if line.startswith(_WARNING)]
    if arguments[0] == "submit":
        for warning in warnings:
            say(warning.removeprefix("trainwarden: "))
    if done.returncode != 0:
        others = "\n".join(line for line in lines if line not in warnings)
        raise ProgramError(done.returncode, _package().plain(others))
    printed: str = done.stdout
    return printed


def _package() -> Any:
    """How the package trainwarden starts the program. To import this one is to be cheap, so that is imported here."""
    from trainwarden import _program

    return _program
