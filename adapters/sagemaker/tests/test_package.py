"""The package as it is installed: what it says of itself, and what the type checker says of it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import sagemaker

ROOT = Path(__file__).parents[1]


def test_the_types_are_right(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--config-file",
        str(ROOT / "pyproject.toml"),
        "--cache-dir",
        str(tmp_path),
    ]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_importing_it_is_cheap_and_starts_nothing() -> None:
    code = "import sys, sagemaker, sagemaker.pytorch, sagemaker.debugger, sagemaker.analytics; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"pandas", "torch", "numpy", "trainwarden"} & set(loaded)


def test_the_names_of_the_seeds_are_there() -> None:
    from sagemaker.analytics import TrainingJobAnalytics  # noqa: F401
    from sagemaker.debugger import FrameworkProfile, ProfilerConfig, ProfilerRule  # noqa: F401
    from sagemaker.inputs import TrainingInput, s3_input

    from sagemaker import analytics, lineage  # noqa: F401

    assert sagemaker.s3_input is s3_input is TrainingInput
    assert all(hasattr(sagemaker, name) for name in sagemaker.__all__)
