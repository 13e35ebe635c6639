"""Run names: the folder of a run that nobody has named."""

from __future__ import annotations

import os
import re
import time
from typing import Optional


def new_run_dir(program: str, runs: Optional[str] = None) -> str:
    """An absolute path: the program may change its folder. A name that is taken gets a number."""
    folder = runs_folder(runs)
    name = f"{time.strftime('%Y%m%d-%H%M')}-{re.sub(r'[^A-Za-z0-9_-]', '_', program)}"
    taken = [number for number in range(1, 1000) if os.path.exists(os.path.join(folder, _numbered(name, number)))]
    return os.path.join(folder, _numbered(name, max(taken, default=0) + 1))


def runs_folder(runs: Optional[str] = None) -> str:
    return os.path.abspath(runs or os.environ.get("TRAINWARDEN_RUNS") or "runs")


def _numbered(name: str, number: int) -> str:
    return name if number == 1 else f"{name}-{number}"
