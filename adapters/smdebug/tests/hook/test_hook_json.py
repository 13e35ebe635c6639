"""Hooks from JSON files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import smdebug.pytorch as smd
from smdebug.exceptions import SMDebugValueError


@pytest.fixture(autouse=True)
def _no_hook() -> Iterator[None]:
    yield
    smd.del_hook()


def hook_of(folder: Path, document: dict[str, Any]) -> smd.Hook:
    file = folder / "hook.json"
    file.write_text(json.dumps({"LocalPath": str(folder / "run"), **document}))
    return smd.Hook.create_from_json_file(file)


def test_every_parameter(tmp_path: Path) -> None:
    hook = hook_of(
        tmp_path,
        {
            "S3Path": "s3://bucket/prefix",
            "HookParameters": {
                "export_tensorboard": "true",
                "tensorboard_dir": str(tmp_path / "board"),
                "save_all": "False",
                "include_regex": "one,two",
                "include_workers": "all",
                "save_interval": "100",
                "save_steps": "1,2,3,4",
                "start_step": "1",
                "end_step": 400,
                "reductions": "min,abs_mean,l2_norm,abs_l1_norm",
                "save_raw_tensor": "True",
                "save_shape": True,
            },
            "CollectionConfigurations": [
                {
                    "CollectionName": "mine",
                    "CollectionParameters": {
                        "include_regex": "relu, tanh",
                        "save_histogram": "false",
                        "save_interval": 7,
                        "reductions": "max",
                    },
                },
                {"CollectionName": "weights"},
            ],
        },
    )
    everywhere = smd.SaveConfigMode(100, 1, 400, [1, 2, 3, 4])
    assert hook.out_dir == str(tmp_path / "run")
    assert hook.tensorboard_dir == str(tmp_path / "board")
    assert hook.save_config == smd.SaveConfig.from_save_config_mode(everywhere)
    assert hook.reduction_config == smd.ReductionConfig(
        ["min"], ["mean"], ["l2"], ["l1"], save_raw_tensor=True, save_shape=True
    )
    assert hook.save_all_workers and not hook.save_all
    assert hook.include_collections == ["default", "losses", "mine", "weights"]
    assert hook.get_collection("default").include_regex == ["one", "two"]
    mine = hook.get_collection("mine")
    assert mine.include_regex == ["relu", "tanh"] and not mine.save_histogram
    assert mine.reduction_config == smd.ReductionConfig(["max"])
    assert mine.save_config == smd.SaveConfig(None, 7, 1, 400, [1, 2, 3, 4])
    assert hook.get_collection("weights").include_regex == ["^(?!gradient).*weight"]
    assert hook.get_collection("weights").reduction_config is None


def test_which_word_is_the_last(tmp_path: Path) -> None:
    """Default, hook, hook's mode, collection, collection's mode."""
    hook = hook_of(
        tmp_path,
        {
            "HookParameters": {"save_interval": "100", "train.save_interval": "10"},
            "CollectionConfigurations": [
                {"CollectionName": "first", "CollectionParameters": {"save_interval": "5", "eval.save_interval": "2"}},
                {"CollectionName": "second", "CollectionParameters": {"predict.save_interval": "3"}},
            ],
        },
    )

    def intervals(config: Any) -> list[int]:
        return [config.get_save_config(mode).save_interval for mode in smd.modes]

    assert intervals(hook.save_config) == [10, 100, 100, 100]
    assert intervals(hook.get_collection("first").save_config) == [5, 2, 5, 5]
    assert intervals(hook.get_collection("second").save_config) == [10, 100, 3, 100]


def test_an_almost_empty_file(tmp_path: Path) -> None:
    hook = hook_of(tmp_path, {"HookParameters": None, "CollectionConfigurations": None})
    assert hook.include_collections == ["losses"]
    assert hook.save_config == smd.SaveConfig()
    assert hook.tensorboard_dir is None


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"HookParameters": {"save_intervall": 5}}, "save_interval"),
        ({"HookParameters": {"save_all": "perhaps"}}, "save_all"),
        ({"HookParameters": {"reductions": "median"}}, "median"),
        ({"CollectionConfigurations": [{"CollectionParameters": {}}]}, "CollectionName"),
        ({"HookParameter": {}}, "HookParameters"),
    ],
)
def test_a_mistake_in_the_file_is_an_error_that_names_it(
    tmp_path: Path, document: dict[str, Any], message: str
) -> None:
    with pytest.raises(SMDebugValueError, match=message):
        hook_of(tmp_path, document)


def test_files_that_the_environment_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hook_of(tmp_path, {})
    smd.del_hook()
    board = tmp_path / "board.json"
    board.write_text(json.dumps({"LocalPath": str(tmp_path / "shown")}))
    monkeypatch.setenv("SMDEBUG_CONFIG_FILE_PATH", str(tmp_path / "hook.json"))
    monkeypatch.setenv("TENSORBOARD_CONFIG_FILE_PATH", str(board))
    hook = smd.get_hook(create_if_not_exists=True)
    assert hook is not None and smd.get_hook() is hook
    assert hook.tensorboard_dir == str(tmp_path / "shown")
    again = smd.Hook.hook_from_config()
    assert again.out_dir == hook.out_dir


def test_a_job_has_its_configuration_in_a_place_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    smd.del_hook()
    file = tmp_path / "hook.json"
    monkeypatch.setenv("TRAINWARDEN_CONFIG", str(file))
    monkeypatch.setenv("TRAINWARDEN_RUN_DIR", str(tmp_path / "run"))
    file.write_text(json.dumps({"save_all": True}))  # of our own
    assert smd.get_hook(create_if_not_exists=True) is None
    collection = {"CollectionName": "gradients", "CollectionParameters": {"save_interval": "3"}}
    file.write_text(json.dumps({"CollectionConfigurations": [collection]}))
    hook = smd.Hook.create_from_json_file()
    assert "gradients" in hook.include_collections and hook.out_dir == str(tmp_path / "run")
