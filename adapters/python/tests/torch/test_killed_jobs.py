"""Jobs of real PyTorch programs, killed at random: each goes on from its checkpoint, and its run has each step once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

MANY_JOBS = Path(__file__).resolve().parents[4] / "tests" / "jobs" / "many_jobs.py"


def test_jobs_that_are_killed_have_the_losses_of_one_that_was_not() -> None:
    program = os.environ.get("TRAINWARDEN_PROGRAM") or str(Path(sys.executable).parent / "trainwarden")
    words = [MANY_JOBS, "--trainwarden", program, "--python", sys.executable]
    words += ["--jobs", "7", "--kills", "9", "--seconds", "0.5"]
    answer = subprocess.run([sys.executable, "-B", *words], capture_output=True, text=True, timeout=600)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    figures = json.loads(answer.stdout.splitlines()[0])
    assert figures["jobs"] == 7
    assert figures["attempts"] >= 7
    assert sum(figures["killed"].values()) > 0
