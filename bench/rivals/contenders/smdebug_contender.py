"""smdebug itself, with the writer that its hooks write through and the trial that its users read with."""

from __future__ import annotations

import os
from pathlib import Path

os.environ["SMDEBUG_TRAINING_END_DELAY_REFRESH"] = "0"  # it would sleep when the run has ended
os.environ["SMDEBUG_LOG_LEVEL"] = "off"

# ruff: noqa: E402
import numpy as np
import smdebug
from smdebug.core.access_layer.utils import training_has_ended
from smdebug.core.collection_manager import CollectionManager
from smdebug.core.modes import ModeKeys
from smdebug.core.writer import FileWriter
from smdebug.trials import create_trial

WORKER = "worker_0"


def version() -> str:
    return f"smdebug {smdebug.__version__}"


class Writer:
    """As smdebug.core.hook: a FileWriter for each step, which is closed when the step ends."""

    def __init__(self, folder: Path) -> None:
        self._folder = str(folder)
        self._collections = CollectionManager()
        self._collections.create_collection("all")
        self._collections.get("all").include(".*")

    def write_step(self, step: int, tensors: list[tuple[str, np.ndarray]]) -> None:
        if step == 0:
            self._collections.get("all").tensor_names = {name for name, _ in tensors}
            self._collections.set_num_workers(1)
            self._collections.export(self._folder, f"{WORKER}_collections.json")
        with FileWriter(trial_dir=self._folder, step=step, worker=WORKER) as writer:
            for name, array in tensors:
                writer.write_tensor(tdata=array, tname=name, mode=ModeKeys.TRAIN, mode_step=step)

    def close(self) -> None:
        training_has_ended(self._folder)


class Reader:
    def __init__(self, folder: Path) -> None:
        self._trial = create_trial(str(folder))

    def names(self) -> list[str]:
        return self._trial.tensor_names()

    def steps(self) -> list[int]:
        return self._trial.steps()

    def tensor(self, name: str, steps: list[int]) -> list[np.ndarray]:
        tensor = self._trial.tensor(name)
        return [tensor.value(step) for step in steps]

    def step(self, step: int, names: list[str]) -> dict[str, np.ndarray]:
        return {name: self._trial.tensor(name).value(step) for name in names}


class Follower:
    def __init__(self, folder: Path) -> None:
        self._trial = create_trial(str(folder))

    def look(self, step: int, name: str) -> np.ndarray | None:
        if step not in self._trial.steps():  # wait_for_steps() would sleep for two seconds between two looks
            return None
        return self._trial.tensor(name).value(step)
