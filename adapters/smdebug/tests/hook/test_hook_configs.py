"""SaveConfig, ReductionConfig, Collection and CollectionManager: which steps, which errors, their JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest

from smdebug import SaveConfig, SaveConfigMode, modes
from smdebug.core.collection import Collection, CollectionKeys
from smdebug.core.collection_manager import CollectionManager
from smdebug.core.reduction_config import ALLOWED_NORMS, ALLOWED_REDUCTIONS, ReductionConfig
from smdebug.core.reductions import (
    get_numpy_reduction,
    get_reduction_tensor_name,
    reverse_reduction_tensor_name,
)
from smdebug.exceptions import SMDebugError, SMDebugTypeError, SMDebugValueError
from smdebug.pytorch.collection import CollectionManager as TorchCollectionManager


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ({}, [0]),
        ({"save_interval": 5}, [0, 5, 10, 15, 20]),
        ({"save_interval": 3, "start_step": 4, "end_step": 10}, [6, 9]),
        ({"save_interval": 3, "start_step": 4, "end_step": 10, "save_steps": [1, 20]}, [1, 6, 9, 20]),
        ({"end_step": 0}, []),
        ({"end_step": 0, "save_steps": [2]}, [2]),
        ({"save_steps": [2]}, [0, 2]),
        ({"save_interval": "7", "start_step": "1", "end_step": "21"}, [7, 14]),
        ({"start_step": 21}, []),
    ],
)
def test_which_steps_are_saved(options: dict[str, Any], wanted: list[int]) -> None:
    config = SaveConfig(**options)
    for mode in modes:
        assert [step for step in range(22) if config.should_save_step(mode, step)] == wanted


@pytest.mark.parametrize(
    "options",
    [
        {"save_interval": "often"},
        {"save_interval": 0},
        {"save_interval": -1},
        {"start_step": []},
        {"end_step": "never"},
        {"save_steps": "1,2"},
        {"save_steps": ["1"]},
        {"mode_save_configs": {"TRAIN": SaveConfigMode()}},
        {"mode_save_configs": {modes.TRAIN: 5}},
        {"mode_save_configs": {modes.TRAIN: SaveConfigMode()}, "save_interval": 5},
    ],
)
def test_a_wrong_save_config_is_an_error(options: dict[str, Any]) -> None:
    with pytest.raises(SMDebugValueError, match="expected"):
        SaveConfig(**options)


def test_lists_of_two_save_configs_are_two() -> None:
    first, second = SaveConfigMode(), SaveConfigMode()
    first.save_steps.append(3)
    assert second.save_steps == []


def test_modes_that_are_left_out_are_filled() -> None:
    config = SaveConfig({modes.TRAIN: SaveConfigMode(save_interval=2)})
    with pytest.raises(SMDebugValueError, match="EVAL"):
        config.should_save_step(modes.EVAL, 0)
    config.merge_default_save_config(SaveConfig(save_interval=9))
    assert config.get_save_config(modes.TRAIN).save_interval == 2
    assert config.get_save_config(modes.EVAL).save_interval == 9
    with pytest.raises(SMDebugValueError, match="SaveConfigMode"):
        config.set_save_config(modes.EVAL, 3)  # type: ignore[arg-type]


def test_what_a_save_config_is_made_of() -> None:
    every_third = SaveConfigMode(save_interval=3)
    whole = SaveConfig(save_interval=3)
    assert SaveConfig.parse(None) == SaveConfig()
    assert SaveConfig.parse(whole) is whole
    assert SaveConfig.parse(every_third) == whole
    assert SaveConfig.parse({mode: every_third for mode in modes}) == whole
    assert SaveConfig.parse({mode.name: {"save_interval": 3} for mode in modes}) == whole
    assert SaveConfig.from_dict(None) is None
    with pytest.raises(SMDebugTypeError, match="expected"):
        SaveConfig.parse(3)
    with pytest.raises(SMDebugTypeError, match="expected"):
        SaveConfigMode.from_dict(3)  # type: ignore[arg-type]


def test_a_save_config_as_json() -> None:
    config = SaveConfig({modes.TRAIN: SaveConfigMode(2, 1, 9, [4])})
    document = json.loads(config.to_json())
    assert document["TRAIN"] == {"save_interval": 2, "save_steps": [4], "start_step": 1, "end_step": 9}
    assert document["EVAL"] is None
    assert SaveConfig.from_json(config.to_json()) == config
    assert SaveConfig.from_json(SaveConfig().to_json()) == SaveConfig()
    assert config != SaveConfig()
    default = {"save_interval": 500, "save_steps": [], "start_step": 0, "end_step": None}
    assert SaveConfig().to_json_dict() == {mode.name: default for mode in modes}


@pytest.mark.parametrize(
    "options",
    [
        {"reductions": ["median"]},
        {"abs_reductions": ["l1"]},
        {"norms": ["min"]},
        {"abs_norms": ["l3"]},
        {"save_raw_tensor": "True"},
        {"save_shape": 1},
    ],
)
def test_a_wrong_reduction_config_is_an_error(options: dict[str, Any]) -> None:
    with pytest.raises(SMDebugValueError, match="expected .*, found"):
        ReductionConfig(**options)


def test_a_reduction_config_as_json() -> None:
    config = ReductionConfig(["min", "mean"], ["mean"], ["l2"], ["l1"], save_raw_tensor=True)
    assert config.to_json_dict() == {
        "save_raw_tensor": True,
        "reductions": "min,mean,l2_norm,abs_mean,abs_l1_norm",
        "save_shape": False,
    }
    assert ReductionConfig.from_json(config.to_json()) == config
    assert config.requested() == [("min", False), ("mean", False), ("l2", False), ("mean", True), ("l1", True)]
    everything = ReductionConfig(ALLOWED_REDUCTIONS, ALLOWED_REDUCTIONS, ALLOWED_NORMS, ALLOWED_NORMS)
    assert ReductionConfig.from_json(everything.to_json()) == everything
    assert ReductionConfig.from_dict(None) is None
    assert ReductionConfig.from_dict({}) == ReductionConfig()


def test_flags_of_a_reduction_config_may_be_texts() -> None:
    config = ReductionConfig.from_dict({"reductions": "", "save_raw_tensor": "True", "save_shape": "false"})
    assert config == ReductionConfig(save_raw_tensor=True)
    for wrong in ({"save_shape": "yes"}, {"reductions": "abs_l1"}, {"reductions": "median"}):
        with pytest.raises(SMDebugValueError, match="expected"):
            ReductionConfig.from_dict(wrong)
    with pytest.raises(SMDebugValueError, match="dict"):
        ReductionConfig.from_dict(["min"])  # type: ignore[arg-type]


def test_a_collection_as_json() -> None:
    collection = Collection(
        "mine", ["relu"], ["b", "a"], ReductionConfig(["min"]), {modes.TRAIN: SaveConfigMode(3)}, save_histogram=False
    )
    document = collection.to_json_dict()
    assert document["tensor_names"] == ["a", "b"]
    assert document["reduction_config"] == {"reductions": "min", "save_raw_tensor": False, "save_shape": False}
    assert Collection.from_json(collection.to_json()) == collection
    bare = Collection("bare")
    assert Collection.from_dict({"name": "bare"}) == bare
    assert bare.to_json_dict()["save_config"] is None
    assert bare != collection and hash(bare) == hash("bare")


def test_a_collection_takes_only_what_it_should() -> None:
    collection = Collection("mine", "one")
    collection.include(["two", ["three"]])  # type: ignore[list-item]
    collection.include("four")
    assert collection.include_regex == ["one", "two", "three", "four"]
    for wrong in ({"tensor_names": "a"}, {"reduction_config": "min"}, {"save_config": 3}):
        with pytest.raises(SMDebugTypeError, match="expected"):
            Collection("wrong", **wrong)
    with pytest.raises(SMDebugTypeError, match="pattern"):
        collection.include(3)  # type: ignore[arg-type]
    with pytest.raises(SMDebugValueError, match="dict"):
        Collection.from_dict(["mine"])  # type: ignore[arg-type]
    collection.add_tensor_name("a")
    assert collection.has_tensor_name("a")
    collection.remove_tensor_name("a")
    collection.remove_tensor_name("a")
    assert not collection.has_tensor_name("a")


def test_a_manager_gives_creates_and_replaces(run_dir: Any) -> None:
    manager = CollectionManager()
    with pytest.raises(SMDebugError, match="mine"):
        manager.get("mine", create=False)
    created = manager.get("mine")
    manager.add("mine")
    assert manager.get("mine") is created
    manager.add(Collection("mine", ["x"]))
    assert manager.get("mine").include_regex == ["x"]
    manager.set_num_workers(3)
    manager.export(str(run_dir), "worker_0_collections.json")
    loaded = CollectionManager.load(str(run_dir / "collections/000000000/worker_0_collections.json"))
    assert loaded == manager and loaded.get_num_workers() == 3
    for wrong in ("[]", '{"collections": {}, "_meta": {}, "more": 1}'):
        with pytest.raises(SMDebugValueError, match="_meta"):
            CollectionManager.load_from_string(wrong)
    with pytest.raises(SMDebugTypeError, match="dict"):
        manager.update_meta(3)  # type: ignore[arg-type]


def test_built_in_collections_of_pytorch() -> None:
    collections = TorchCollectionManager().get_collections()
    assert sorted(collections) == ["all", "biases", "default", "gradients", "losses", "weights"]
    assert collections[CollectionKeys.LOSSES].include_regex == ["[Ll]oss_(?!input).*output"]
    assert collections[CollectionKeys.WEIGHTS].include_regex == ["^(?!gradient).*weight"]
    assert collections[CollectionKeys.ALL].include_regex == []


def test_names_of_reductions() -> None:
    name = get_reduction_tensor_name("gradient/Net_fc.weight", "mean", abs=True)
    assert name == "smdebug/reductions/abs_mean/gradient/Net_fc.weight"
    assert reverse_reduction_tensor_name(name) == ("gradient/Net_fc.weight", "mean", True)
    assert get_reduction_tensor_name("w:0", "l2", abs=False) == "smdebug/reductions/l2/w"
    assert get_reduction_tensor_name("w:0", "l2", abs=False, remove_colon_index=False) == "smdebug/reductions/l2/w:0"


def test_reductions_of_arrays_are_entrywise() -> None:
    matrix = [[-3.0, 1.0], [0.0, 2.0]]
    expected = {"min": -3, "max": 2, "mean": 0, "sum": 0, "prod": 0, "l1": 6, "l2": 14**0.5, "variance": 3.5}
    assert {name: get_numpy_reduction(name, matrix) for name in expected} == pytest.approx(expected)
    assert get_numpy_reduction("mean", matrix, abs=True) == 1.5
    with pytest.raises(SMDebugValueError, match="median"):
        get_numpy_reduction("median", matrix)
