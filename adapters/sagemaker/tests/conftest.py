"""What the tests of the package share."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tests" / "servers"))

from bucket_fixtures import bucket, bucket_server  # noqa: E402, F401

SCRIPT = """
import argparse, os, sys, time
parser = argparse.ArgumentParser()
parser.add_argument("--words", default="nothing")
parser.add_argument("--seconds", type=float, default=0)
parser.add_argument("--code", type=int, default=0)
options = parser.parse_args()
print("the words are", options.words, flush=True)
with open(os.path.join(os.environ["SM_MODEL_DIR"], "model.txt"), "w") as file:
    file.write(options.words)
time.sleep(options.seconds)
sys.exit(options.code)
"""


@pytest.fixture(autouse=True)
def _folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Jobs, runs and buckets of the test alone, and nothing that the user has set."""
    for name in [name for name in os.environ if name.startswith(("TRAINWARDEN_", "SMDEBUG_", "AWS_"))]:
        if name != "TRAINWARDEN_PROGRAM":
            monkeypatch.delenv(name)
    for name in ("jobs", "runs", "buckets", "experiments"):
        monkeypatch.setenv(f"TRAINWARDEN_{name.upper()}", str(tmp_path / name))
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")


@pytest.fixture
def script(tmp_path: Path) -> Path:
    """A program that says its words, leaves a model, waits and ends as it is told."""
    path = tmp_path / "work" / "train.py"
    path.write_text(SCRIPT)
    return path


@pytest.fixture
def work(script: Path) -> Path:
    """The folder of that program, with sources, data and a rule beside it."""
    folder = script.parent
    for name in ("src", "more", "data"):
        (folder / name).mkdir()
    (folder / "src" / "train.py").write_text("print('from src')")
    (folder / "other.py").write_text("print('another')")
    (folder / "my_rule.py").write_text("")
    return folder
