"""The same programs under smdebug 1.0.34 and under ours: names, steps, modes, shapes, values and collections."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hook_runs import Recorded, read_original, read_ours, read_with_original, record_original, record_ours

PROGRAMS = [
    "parts", "defaults", "everything", "schedule", "patterns", "all_with_patterns", "modes", "shared", "recurrent",
    "functional_loss", "by_hand", "data_parallel", "two_models",
]  # fmt: skip


ALL_PROGRAMS = [*PROGRAMS, "reductions"]


@dataclass
class Both:
    """The programs as they ran under smdebug and under ours."""

    folder: Path
    original_digests: dict[str, str]
    our_digests: dict[str, str]

    def recorded(self, program: str) -> tuple[Recorded, Recorded]:
        """By ours, and by smdebug."""
        return read_ours(self.folder / "ours" / program), read_original(self.folder / "original" / program)


@pytest.fixture(scope="module")
def both(rivals_python: str, tmp_path_factory: pytest.TempPathFactory) -> Both:
    folder = tmp_path_factory.mktemp("programs")
    original = record_original(rivals_python, folder / "original", *ALL_PROGRAMS)
    read_with_original(rivals_python, *(folder / "original" / program for program in ALL_PROGRAMS))
    return Both(folder, original, record_ours(folder / "ours", *ALL_PROGRAMS))


def assert_same_tensors(ours: Recorded, original: Recorded) -> None:
    assert ours.tensors == original.tensors
    assert set(ours.values) == set(original.values)
    for key, value in original.values.items():
        mine = ours.values[key]
        if key[0].startswith("scalar/"):  # one number, of whatever type
            assert float(mine) == float(np.ravel(value)[0])
            continue
        assert mine.dtype == value.dtype, key
        assert mine.shape == value.shape, key
        assert mine.tobytes() == value.tobytes(), key


def assert_same_collections(ours: Recorded, original: Recorded) -> None:
    """Ours has more collections, and `all` holds all tensors."""
    for name, members in original.collections.items():
        if members and name != "all":
            assert ours.collections[name] == members, name


def assert_same_reductions(ours: Recorded, original: Recorded) -> None:
    """Ours may have more: with one that is asked for come all that a pass over the tensor gives."""
    for key, expected in original.reductions.items():
        count = math.prod(original.shapes[key] or ours.shapes[key])
        for (name, is_abs), value in expected.items():
            assert math.isclose(
                ours.reductions[key][name, is_abs], as_of_population(name, value, count), rel_tol=2e-6, abs_tol=1e-7
            ), (key, name, is_abs)


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_same_is_recorded(both: Both, program: str) -> None:
    ours, original = both.recorded(program)
    assert ours.steps == original.steps
    assert_same_tensors(ours, original)
    assert_same_collections(ours, original)


def test_the_same_is_trained(both: Both) -> None:
    assert both.our_digests == both.original_digests


def test_the_same_reductions_are_recorded(both: Both) -> None:
    ours, original = both.recorded("reductions")
    assert ours.tensors == original.tensors
    assert set(ours.values) == set(original.values)
    assert_same_reductions(ours, original)
    for key in original.shapes:
        if key[0].startswith("gradient/"):
            assert ours.shapes[key] == original.shapes[key]


def as_of_population(reduction: str, value: float, count: int) -> float:
    """smdebug divides by n - 1, we by n."""
    factor = {"variance": (count - 1) / count, "std": math.sqrt((count - 1) / count)}
    return value * factor.get(reduction, 1.0)


JSON_FILES: dict[str, dict[str, Any]] = {
    "weightsbiasgradients": {
        "HookParameters": {"save_interval": "2"},
        "CollectionConfigurations": [
            {"CollectionName": "weights"},
            {"CollectionName": "biases", "CollectionParameters": {"save_steps": "1,3", "end_step": "0"}},
            {"CollectionName": "gradients", "CollectionParameters": None},
        ],
    },
    "saveall": {"HookParameters": {"save_all": "True", "save_steps": "0,4", "end_step": 0}},
    "multi_collections": {
        "HookParameters": {"include_regex": "relu1, fc_output", "save_interval": 1},
        "CollectionConfigurations": [
            {"CollectionName": "conv", "CollectionParameters": {"include_regex": "conv1,conv2", "save_interval": "3"}},
            {"CollectionName": "loss_in", "CollectionParameters": {"include_regex": "Loss_input", "start_step": "2"}},
        ],
    },
    "modes": {
        "HookParameters": {"save_interval": 100, "train.save_interval": 10, "train.save_steps": "1"},
        "CollectionConfigurations": [
            {"CollectionName": "weights", "CollectionParameters": {"save_interval": "5", "eval.save_interval": "2"}}
        ],
    },
    "reduction_config": {
        "HookParameters": {"save_interval": "2", "reductions": "min,max"},
        "CollectionConfigurations": [
            {"CollectionName": "weights", "CollectionParameters": {"reductions": "mean,abs_l2_norm,l1_norm"}},
            {"CollectionName": "gradients", "CollectionParameters": {"reductions": "sum", "save_raw_tensor": True}},
            {"CollectionName": "biases"},
        ],
    },
    "save_shape": {
        "HookParameters": {"save_interval": "3", "reductions": "", "save_shape": True},
        "CollectionConfigurations": [{"CollectionName": "gradients"}],
    },
}  # fmt: skip


@pytest.fixture(scope="module")
def both_of_json(rivals_python: str, tmp_path_factory: pytest.TempPathFactory) -> Both:
    """The same training with each of the files."""
    folder = tmp_path_factory.mktemp("json")
    programs = [f"from_json-{name}" for name in JSON_FILES]
    for who in ("original", "ours"):
        (folder / who).mkdir()
        for name, program in zip(JSON_FILES, programs):
            document = {"LocalPath": str(folder / who / program), **JSON_FILES[name]}
            (folder / who / f"{program}.hook.json").write_text(json.dumps(document))
    original = record_original(rivals_python, folder / "original", *programs)
    read_with_original(rivals_python, *(folder / "original" / program for program in programs))
    return Both(folder, original, record_ours(folder / "ours", *programs))


@pytest.mark.parametrize("name", JSON_FILES)
def test_the_same_json_file_records_the_same(both_of_json: Both, name: str) -> None:
    ours, original = both_of_json.recorded(f"from_json-{name}")
    assert_same_tensors(ours, original)
    assert_same_collections(ours, original)
    assert_same_reductions(ours, original)
