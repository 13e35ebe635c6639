"""The package and smdebug itself are asked the same about the same folder, and answer the same."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import smdebug
from smdebug_folder import SmdebugFolder

QUESTIONS = Path(__file__).parent / "scripts" / "questions.py"
# (theirs, ours) where we answer in another way on purpose: an unknown reduction is named as such whatever was saved,
# and so is one of texts.
MENDED = [
    ("raises TensorUnavailableForStep", "raises SMDebugValueError"),
    ("raises UFuncTypeError", "raises SMDebugValueError"),
]
RECORDED = ["cnn_reductions", "cnn_save_all", "cnn_wgl_every_step", "mlp_modes_scalar"]


def answers(python: str, package: Path | None, folder: Path) -> dict[str, Any]:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    if package is not None:
        environment["PYTHONPATH"] = os.pathsep.join([str(package), os.environ.get("PYTHONPATH", "")])
    environment |= {"SMDEBUG_LOG_LEVEL": "off", "SMDEBUG_TRAINING_END_DELAY_REFRESH": "0", "OMP_NUM_THREADS": "1"}
    command = [python, str(QUESTIONS), str(folder)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def expect_the_same(rivals_python: str, folder: Path) -> None:
    theirs = answers(rivals_python, None, folder)
    ours = answers(sys.executable, Path(smdebug.__file__).parents[1], folder)
    assert len(theirs) > 100
    pairs = {words: (theirs[words], ours.get(words)) for words in theirs}
    different = {words: pair for words, pair in pairs.items() if pair[0] != pair[1] and pair not in MENDED}
    assert different == {} and ours.keys() == theirs.keys()


@pytest.mark.parametrize("name", RECORDED)
def test_recorded_trials(rivals_python: str, shared_trials: Path, name: str) -> None:
    expect_the_same(rivals_python, shared_trials / name)


def test_a_folder_of_many_kinds(rivals_python: str, run_dir: Path) -> None:
    folder = SmdebugFolder(run_dir, ["worker_0", "worker_1"], {"gradients": ["^gradient"], "text": ["tokens"]})
    for step, mode, mode_step in [(0, "TRAIN", 0), (2, "TRAIN", 2), (3, "EVAL", 0), (5, "TRAIN", 4), (9, "EVAL", 1)]:
        for worker in ("worker_0", "worker_1"):
            tensors = {
                "loss": np.array(1.0 / (step + 1), dtype=np.float32),
                "one": np.array([step], dtype=np.int64),
                "gradient/w": np.arange(6.0).reshape(2, 3) - step,
                "tokens": ["[CLS]", f"step{step}"],
                "smdebug/reductions/abs_mean/reduced": np.array(2.0, dtype=np.float32),
                "smdebug/reductions/l2/reduced": np.array(4.0, dtype=np.float32),
                "half": np.ones(3, dtype=np.float16),
            }
            folder.step(step, tensors, worker=worker, mode=mode, mode_step=mode_step, shapes={"shaped": (4, 5, 6)})
    folder.end()
    expect_the_same(rivals_python, run_dir)


def test_a_tensor_with_its_shape_keeps_its_value(rivals_python: str, run_dir: Path) -> None:
    """smdebug forgets where the value lies when the shape was saved beside it."""
    folder = SmdebugFolder(run_dir)
    folder.step(0, {"w": np.arange(3.0)}, shapes={"w": (3,)})
    folder.end()
    theirs = answers(rivals_python, None, run_dir)["w value 0 ModeKeys.GLOBAL"]
    ours = answers(sys.executable, Path(smdebug.__file__).parents[1], run_dir)["w value 0 ModeKeys.GLOBAL"]
    assert theirs == "raises TensorUnavailableForStep" and ours == ["f", 8, [0.0, 1.0, 2.0]]
