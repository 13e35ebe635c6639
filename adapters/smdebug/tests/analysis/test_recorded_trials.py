"""The trials that smdebug recorded, and what it read from them itself."""

from __future__ import annotations

import ast
import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest

from smdebug.trials import Trial, create_trial

NAMES = ["cnn_reductions", "cnn_save_all", "cnn_wgl_every_step", "mlp_modes_scalar"]


@pytest.fixture(params=NAMES)
def recorded(request: pytest.FixtureRequest, shared_trials: Path) -> tuple[Trial, dict[str, Any]]:
    expected = json.loads((shared_trials / f"{request.param}.expected.json").read_text())
    return create_trial(shared_trials / request.param), expected


def test_run(recorded: tuple[Trial, dict[str, Any]]) -> None:
    trial, expected = recorded
    assert trial.name == expected["run"] and trial.loaded_all_steps
    assert trial.steps() == expected["steps"]
    assert [str(mode) for mode in trial.modes()] == expected["modes"]
    assert trial.workers() == ["worker_0"] and trial.num_workers == 1


def test_collections(recorded: tuple[Trial, dict[str, Any]]) -> None:
    trial, expected = recorded
    assert set(trial.collections()) >= set(expected["collections"])
    for name, members in expected["collections"].items():
        assert trial.collection(name).tensor_names >= set(members), name
        found = trial.tensor_names(collection=name)
        patterns = trial.collection(name).include_regex
        assert found == sorted({*members, *(trial.tensor_names(regex=patterns) if patterns else [])}), name


def test_tensors_and_their_steps(recorded: tuple[Trial, dict[str, Any]]) -> None:
    trial, expected = recorded
    assert trial.tensor_names() == sorted(expected["tensors"])
    for name, by_step in expected["tensors"].items():
        assert trial.tensor(name).steps() == sorted(map(int, by_step)), name


def test_values(recorded: tuple[Trial, dict[str, Any]]) -> None:
    trial, expected = recorded
    checked = 0
    for name, by_step in expected["tensors"].items():
        for step, told in by_step.items():
            if "sha256" not in told:
                continue
            value = trial.tensor(name).value(int(step))
            assert (value.dtype.name, list(value.shape)) == (told["dtype"], told["shape"]), (name, step)
            assert list(trial.tensor(name).shape(int(step))) == told["shape"]
            assert hashlib.sha256(value.tobytes()).hexdigest().startswith(told["sha256"]), (name, step)
            assert value.mean() == pytest.approx(told["mean"], abs=1e-6, nan_ok=True)
            checked += 1
    assert checked > 0


def reductions_of(text: str) -> dict[tuple[str, bool], float]:
    """Of "{('min', False): array(-0.25, dtype=float32), ...}"."""
    numbers = re.sub(r"array\(([^,)]+)(, dtype=\w+)?\)", r"\1", text)
    found: dict[tuple[str, bool], float] = ast.literal_eval(numbers)
    return found


def test_reductions(recorded: tuple[Trial, dict[str, Any]]) -> None:
    trial, expected = recorded
    told_of = {
        (name, int(step)): told["reductions"]
        for name, by_step in expected["tensors"].items()
        for step, told in by_step.items()
        if "reductions" in told
    }
    assert bool(told_of) == (expected["run"] == "cnn_reductions")
    for (name, step), told in told_of.items():
        tensor, wanted = trial.tensor(name), reductions_of(told)
        saved = tensor.reduction_values(step)
        assert set(saved) == set(wanted)
        for (reduction, of_abs), number in wanted.items():
            assert saved[reduction, of_abs] == pytest.approx(number, rel=1e-6, abs=1e-8)  # as it was printed
            assert tensor.reduction_value(step, reduction, abs=of_abs) == saved[reduction, of_abs]
