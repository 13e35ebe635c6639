"""Descriptors: a program that closes those which it has not opened, and opens files of its own under their numbers."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import trainwarden as tw

PROGRAM = """
import os, resource, sys
import trainwarden as tw

def end_of_table():
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]

def train(hook, steps):
    for step in steps:
        hook.save_scalar("loss", step)
        hook.step()
    hook.flush()

resource.setrlimit(resource.RLIMIT_NOFILE, (256, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
os.close(before := os.open(os.devnull, os.O_RDONLY))
hook = tw.Hook(sys.argv[1], include_collections=["scalars"])
train(hook, range(30))
os.close(after := os.open(os.devnull, os.O_RDONLY))
assert after == before, (before, after)  # the number that it would get without us

os.closerange(3, end_of_table())  # as daemons do
own = []
while len(own) < end_of_table() - 16:
    own.append(open(f"{sys.argv[2]}/{len(own)}", "w"))
for file in own:
    file.write("mine")
    file.flush()
train(hook, range(30, 60))
resource.setrlimit(resource.RLIMIT_NOFILE, (64, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
for file in own[len(own) // 2:]:
    file.close()
train(hook, range(60, 90))
hook.close()
for file in own[: len(own) // 2]:
    file.close()
del hook
"""


def test_a_program_that_closes_ours_keeps_its_files_and_its_run(run_dir: Path, tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(run_dir), str(own)], capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert {file.read_text() for file in own.iterdir()} == {"mine"}
    trial = tw.open(run_dir)
    assert [trial.scalar("loss", step) for step in trial.steps()] == list(range(90))
