"""Runs the programs in scripts/ under our package and, where it is installed, under smdebug itself."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Optional

import numpy as np

import trainwarden

SCRIPTS = Path(__file__).parent / "scripts"
_PACKAGE = Path(__file__).resolve().parents[2]


@dataclass
class Recorded:
    """What a reader found in a folder, by global step."""

    steps: list[tuple[int, str, int]]  # global step, name of the mode, step of the mode
    values: dict[tuple[str, int], Any] = field(default_factory=dict)
    shapes: dict[tuple[str, int], tuple[int, ...]] = field(default_factory=dict)
    reductions: dict[tuple[str, int], dict[tuple[str, bool], float]] = field(default_factory=dict)
    collections: dict[str, list[str]] = field(default_factory=dict)

    @property
    def tensors(self) -> dict[str, list[int]]:
        """Steps by name."""
        found: dict[str, list[int]] = {}
        for name, step in sorted(self.shapes):
            found.setdefault(name, []).append(step)
        return found


def run(
    python: str, script: str, *arguments: str, ours: bool = True, variables: Optional[dict[str, str]] = None
) -> str:
    """Standard output of the script, in a clean environment."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("SMDEBUG", "TRAINWARDEN", "PYTHONPATH", "RANK", "WORLD_SIZE"))
    }
    environment |= {"OMP_NUM_THREADS": "1", "SMDEBUG_LOG_LEVEL": "off", "SMDEBUG_TRAINING_END_DELAY_REFRESH": "0"}
    if ours:
        environment["PYTHONPATH"] = os.pathsep.join([str(_PACKAGE), os.environ.get("PYTHONPATH", "")])
    command = [python, str(SCRIPTS / script), *arguments]
    done = subprocess.run(
        command, env={**environment, **(variables or {})}, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def record_ours(folder: Path, *names: str) -> dict[str, str]:
    """Runs the programs into folders of their names; digests of what they have trained."""
    return _digests(run(sys.executable, "programs.py", str(folder), *names))


def record_plain(folder: Path, *names: str) -> dict[str, str]:
    """The same without a hook."""
    return _digests(run(sys.executable, "programs.py", str(folder), "plain", *names))


def record_original(python: str, folder: Path, *names: str) -> dict[str, str]:
    return _digests(run(python, "programs.py", str(folder), *names, ours=False))


def _digests(output: str) -> dict[str, str]:
    return {line.split()[0]: line.split()[1] for line in output.splitlines()}


def read_ours(folder: Path) -> Recorded:
    trial = trainwarden.open(folder)
    assert not trial.losses
    recorded = Recorded([])
    for step in trial.steps():
        mode = trial.mode_of(step)
        assert mode is not None
        mode_step = trial.mode_step_of(step)
        assert mode_step is not None
        recorded.steps.append((step, mode.value.upper(), mode_step))
    for name in trial.tensor_names():
        for step in trial.tensor(name).steps():
            _read_tensor(trial, recorded, name, step)
    for name in trial.collections():
        recorded.collections[name] = trial.tensor_names(collection=name)
    return recorded


def _read_tensor(trial: trainwarden.Trial, recorded: Recorded, name: str, step: int) -> None:
    key = (name, step)
    recorded.shapes[key] = trial.shape(name, step)
    value = _value(trial, name, step)
    if value is not None:
        recorded.values[key] = value
    try:
        saved = trial.saved_reductions(name, step)
    except LookupError:
        saved = []
    recorded.reductions[key] = {(reduction, is_abs): value for reduction, is_abs, value in saved}


def _value(trial: trainwarden.Trial, name: str, step: int) -> Optional[Any]:
    """Whole, or the number that was given to save_scalar()."""
    try:
        return trial.scalar(name, step) if name.startswith("scalar/") else trial.value(name, step)
    except LookupError:
        return None


def read_with_original(python: str, *folders: Path) -> None:
    """Has smdebug itself read the folders, for read_original()."""
    run(python, "read_original.py", *map(str, folders), ours=False)


def read_original(folder: Path) -> Recorded:
    """What smdebug itself has read."""
    document = json.loads(Path(f"{folder}.json").read_text())
    recorded = Recorded([tuple(step) for step in document["steps"]], collections=document["collections"])
    with np.load(f"{folder}.npz") as loaded:
        for key in loaded.files:
            name, step = key.rsplit(" @", 1)
            recorded.values[name, int(step)] = loaded[key]
    for name, steps in document["tensors"].items():
        for step, seen in steps.items():
            key = (name, int(step))
            recorded.shapes[key] = tuple(seen["shape"]) if "shape" in seen else ()
            recorded.reductions[key] = {(word, is_abs): value for word, is_abs, value in seen["reductions"]}
    return recorded
