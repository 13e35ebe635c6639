"""StopTraining is raised in an attached program when its training was asked to stop."""

from __future__ import annotations

# What a shell reports of a process that SIGTERM ended, as it ends a program in C++.
_EXIT_CODE = 143


class StopTraining(SystemExit):
    """Raised at the end of a step, once captured data are in the run's files. A program that does not catch it ends.

    Attributes:
        reason: why, as given in the request.
        code: the exit code of the program.
    """

    def __init__(self, reason: str = "") -> None:
        super().__init__(_EXIT_CODE)
        self.reason = reason

    def __str__(self) -> str:
        return self.reason
