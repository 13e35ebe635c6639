"""StopTraining: what an attached program gets when somebody asked its training to stop."""

from __future__ import annotations

# What a shell reports of a process that SIGTERM ended, as it ends a program in C++.
_EXIT_CODE = 143


class StopTraining(SystemExit):
    """Raised at the end of a step, when what was captured is in the run's files. A program that lets it pass ends.

    Attributes:
        reason: why, in the words of who asked.
        code: the exit code of the program.
    """

    def __init__(self, reason: str = "") -> None:
        super().__init__(_EXIT_CODE)
        self.reason = reason

    def __str__(self) -> str:
        return self.reason
