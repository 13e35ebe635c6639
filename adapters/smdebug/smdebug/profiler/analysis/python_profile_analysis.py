"""Python profiles: statistics of cProfile are written by marshal, which is not safe against files of others and has none of
the steps in it; a run's own stacks are asked for instead."""

from __future__ import annotations

from typing import Any

from ...exceptions import SMDebugNotImplementedError


class PythonProfileAnalysis:
    """Cannot be made: such statistics are not read."""

    def __init__(self, local_profile_dir: str = "/tmp/python_stats", s3_path: Any = None):
        where = s3_path or local_profile_dir
        raise SMDebugNotImplementedError(
            f"{type(self).__name__}: statistics of cProfile and pyinstrument in {where} are not read. Of a run, Python stacks "
            "and operators are in `trainwarden operators RUN` and `trainwarden export RUN FILE --to speedscope`; a file of "
            "cProfile that you trust opens with pstats.Stats(file)"
        )


class cProfileAnalysis(PythonProfileAnalysis):  # noqa: N801
    """As PythonProfileAnalysis."""


class PyinstrumentAnalysis(PythonProfileAnalysis):
    """As PythonProfileAnalysis."""
