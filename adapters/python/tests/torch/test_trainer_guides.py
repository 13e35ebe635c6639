"""The commands of the guides run, in their order, and leave what the guides say."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from running import clean_environment

import trainwarden

REPOSITORY = Path(__file__).resolve().parents[4]
# The library that a guide needs, and the run in which each of its tables of names is true.
GUIDES = {
    "huggingface": ("transformers", ["gpt2"]),
    "lightning": ("lightning", ["classifier"]),
    "accelerate": ("accelerate", ["loop"]),
    "compile": ("torch.distributed.tensor", ["model", "step"]),
    "fsdp": ("torch.distributed.tensor", ["sharded"]),
}


# As they are in any environment, also where a folder of scripts is not on the path.
PROGRAMS = {
    "python": [sys.executable],
    "torchrun": [sys.executable, "-m", "torch.distributed.run"],
    "accelerate": [sys.executable, "-m", "accelerate.commands.accelerate_cli"],
}


def commands_in(page: str) -> list[list[str]]:
    lines = [shlex.split(line) for line in re.findall(r"^    (trainwarden .*)$", page, re.M)]
    return [[part for word in line for part in PROGRAMS.get(word, [word])] for line in lines]


def tables_in(page: str) -> list[list[str]]:
    """The names in the first column, table by table."""
    tables = re.findall(r"^\| name \| what \|\n\|---\|---\|\n((?:\|.*\n)+)", page, re.M)
    return [re.findall(r"`([^`]+)`", "".join(row.split("|")[1] for row in table.splitlines())) for table in tables]


@pytest.mark.parametrize("guide", GUIDES)
def test_a_guide(guide: str, tmp_path: Path) -> None:
    library, runs = GUIDES[guide]
    pytest.importorskip(library)
    page = (REPOSITORY / "docs" / "guide" / f"{guide}.md").read_text()
    for program in (REPOSITORY / "examples" / "trainers").glob("*.py"):
        shutil.copy(program, tmp_path)
    environment = {**clean_environment(), "OMP_NUM_THREADS": "1", "TRAINWARDEN_BUDGET": "0"}  # each step is kept
    environment["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), environment["PATH"]])
    for command in commands_in(page):
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
        assert done.stdout or done.stderr, command
    tables = tables_in(page)
    assert len(tables) == len(runs)
    for run, names in zip(runs, tables):
        present = set(trainwarden.open(tmp_path / "runs" / run).tensor_names())
        assert set(names) <= present, sorted(set(names) - present)
