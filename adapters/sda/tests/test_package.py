"""The packages as they are installed: what the type checker says of them, and what importing them costs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def test_the_types_are_right(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    config = ["--config-file", str(ROOT / "pyproject.toml"), "--cache-dir", str(tmp_path)]
    command = [sys.executable, "-m", "mypy", *config]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_importing_them_is_cheap() -> None:
    code = "import sys, sigopt; from e2eAIOK.SDA.SDA import SDA; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"pandas", "torch", "numpy", "yaml"} & set(loaded)
