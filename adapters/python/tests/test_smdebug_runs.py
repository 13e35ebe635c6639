"""Runs that smdebug recorded, read through the package: every value as smdebug itself read it."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import trainwarden as tw

RUNS = ["cnn_save_all", "cnn_reductions", "cnn_wgl_every_step", "mlp_modes_scalar"]


def shared_data() -> Path:
    return Path(os.environ.get("TRAINWARDEN_SHARED_DATA", Path(__file__).parents[4] / "shared" / "data"))


@pytest.fixture(params=RUNS)
def recorded(request: pytest.FixtureRequest) -> Path:
    folder = shared_data() / "smdebug_trials" / str(request.param)
    if not folder.exists():
        pytest.skip(f"no recorded run at {folder}; TRAINWARDEN_SHARED_DATA says where they are")
    return folder


def expected_of(folder: Path) -> dict[str, Any]:
    expected: dict[str, Any] = json.loads(Path(f"{folder}.expected.json").read_text())
    return expected


def printed_reductions(tensor: tw.TensorHandle, step: int) -> str:
    """As NumPy prints smdebug's dictionary: "{('min', False): array(-0.32, dtype=float32), ..."."""
    saved = tensor.saved_reductions(step)
    return repr({(kind, absolute): np.array(number, np.float32) for kind, absolute, number in saved})


def test_every_value_and_reduction(recorded: Path) -> None:
    expected = expected_of(recorded)
    trial = tw.open(recorded)
    assert trial.steps() == expected["steps"]
    assert trial.tensor_names() == sorted(expected["tensors"])
    for name, steps in expected["tensors"].items():
        tensor = trial.tensor(name)
        assert tensor.steps() == sorted(int(step) for step in steps)
        for step, saved in steps.items():
            if "sha256" in saved:
                value = np.asarray(tensor.value(int(step)))
                assert (str(value.dtype), list(value.shape)) == (saved["dtype"], saved["shape"])
                assert hashlib.sha256(value.tobytes()).hexdigest().startswith(saved["sha256"])
            if "reductions" in saved:
                assert printed_reductions(tensor, int(step)) == saved["reductions"]


def test_the_run(recorded: Path) -> None:
    trial = tw.open(recorded)
    assert trial.recorder == "smdebug"
    assert (trial.state, trial.loaded_all_steps) == (tw.RunState.COMPLETED, True)
    assert (trial.workers, trial.losses) == (["worker_0"], [])


def test_a_missing_event_file_is_named(recorded: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(recorded, run)
    shutil.rmtree(run / "events")
    trial = tw.open(run)
    assert trial.steps() == expected_of(recorded)["steps"]
    loss = trial.tensor("CrossEntropyLoss_output_0")
    with pytest.raises(tw.Error, match="event file missing"):
        loss.value(loss.steps()[0])
