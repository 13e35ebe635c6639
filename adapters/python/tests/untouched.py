"""Runs programs that know nothing of Trainwarden, each once without it and once captured whole."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

import numpy as np

import trainwarden

EVERYTHING = {"save_all": True, "save": {"save_interval": 1}, "when_full": "block"}


@dataclass
class Ended:
    """How a process ended."""

    stdout: str
    stderr: str
    exit_code: int


@dataclass
class Captured:
    """One program: as it ends without us, as it ends captured, and what was captured."""

    plain: Ended
    attached: Ended
    run_dir: Path
    seen: dict[str, np.ndarray]

    @property
    def trial(self) -> trainwarden.Trial:
        return trainwarden.open(self.run_dir)


def clean_environment() -> dict[str, str]:
    """Without a word to Trainwarden, and on one thread."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TRAINWARDEN")}
    # Workers that are spawned and end together race for Python's tracker of semaphores, which then warns now and then.
    quiet = "ignore::UserWarning:multiprocessing.resource_tracker"
    # TensorFlow says with the time and the process what it is built for, and adds up in the order of its threads.
    tensorflow = {"TF_CPP_MIN_LOG_LEVEL": "3", "TF_ENABLE_ONEDNN_OPTS": "0", "CUDA_VISIBLE_DEVICES": "-1"}
    tensorflow.update({"TF_NUM_INTRAOP_THREADS": "1", "TF_NUM_INTEROP_THREADS": "1"})
    return {**kept, **tensorflow, "OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0", "PYTHONWARNINGS": quiet}


def has_pth() -> bool:
    import site

    folders = [*site.getsitepackages(), site.getusersitepackages()]
    return any((Path(folder) / "trainwarden_attach.pth").exists() for folder in folders)


class Runner:
    """Starts programs of the folder `programs`; what they leave goes to `folder`."""

    def __init__(self, folder: Path, programs: Path) -> None:
        self.folder = folder
        self.programs = programs
        self._captured: dict[tuple[str, ...], Captured] = {}

    def attached_environment(self, run_dir: Path, config: Optional[dict[str, object]] = None) -> dict[str, str]:
        environment = {**clean_environment(), "TRAINWARDEN_ATTACH": "1", "TRAINWARDEN_RUN_DIR": str(run_dir)}
        if config is not None:
            file = run_dir.with_suffix(".json")
            file.write_text(json.dumps(config))
            environment["TRAINWARDEN_CONFIG"] = str(file)
        if not has_pth():  # from the source tree: what the .pth file would do
            site = self.folder / "site"
            site.mkdir(exist_ok=True)
            folder = Path(trainwarden.__file__).parents[1]
            (site / "sitecustomize.py").write_text(f"import site\nsite.addsitedir({str(folder)!r})\n")
            environment["PYTHONPATH"] = os.pathsep.join([str(site), environment.get("PYTHONPATH", "")])
        return environment

    def start(self, *command: str, environment: dict[str, str], python: tuple[str, ...] = ()) -> Ended:
        done = subprocess.run(
            [sys.executable, *python, *command],
            cwd=self.programs, env=environment, capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip
        return Ended(done.stdout, done.stderr, done.returncode)

    def captured(self, program: str, *arguments: str, python: tuple[str, ...] = ()) -> Captured:
        """Each program is run once for all tests that ask."""
        key = (*python, program, *arguments)
        if key not in self._captured:
            name = "-".join([Path(program).stem, *arguments, str(len(self._captured))])
            run_dir, seen = self.folder / name, self.folder / f"{name}.npz"
            plain = self.start(program, *arguments, environment=clean_environment(), python=python)
            environment = {**self.attached_environment(run_dir, EVERYTHING), "SEEN_FILE": str(seen)}
            attached = self.start(program, *arguments, environment=environment, python=python)
            loaded = dict(np.load(seen)) if seen.exists() else {}
            self._captured[key] = Captured(plain, attached, run_dir, loaded)
        return self._captured[key]
