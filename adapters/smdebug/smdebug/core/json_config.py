"""Hooks from the JSON files that SageMaker Debugger's users have."""

from __future__ import annotations

import json
import os
from typing import Any, Optional, TypeVar

import trainwarden

from ..exceptions import SMDebugValueError
from . import config_constants
from .hook_utils import PathLike
from .reduction_config import ReductionConfig
from .save_config import SaveConfig

_AnyHook = TypeVar("_AnyHook")
_KEYS = {"HookParameters", "CollectionConfigurations"}


def get_json_config_path(json_config_path: Optional[PathLike] = None) -> str:
    """This one, else that of SMDEBUG_CONFIG_FILE_PATH, else SageMaker's, for which a job has a place of its own here."""
    if json_config_path is not None:
        return os.fspath(json_config_path)
    named = os.environ.get(config_constants.CONFIG_FILE_PATH_ENV_STR)
    if named or os.path.isfile(config_constants.DEFAULT_CONFIG_FILE_PATH):
        return named or config_constants.DEFAULT_CONFIG_FILE_PATH
    return _config_of_run() or config_constants.DEFAULT_CONFIG_FILE_PATH


def _config_of_run() -> Optional[str]:
    """That of a job, or of `trainwarden run --config`, where it is written as SageMaker Debugger's are."""
    path = os.environ.get("TRAINWARDEN_CONFIG")
    if not path:
        return None
    try:
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
    except (OSError, ValueError):
        return None  # who reads it for the run says what is wrong with it
    return path if isinstance(document, dict) and not _KEYS.isdisjoint(document) else None


def get_tensorboard_dir_from_json_config() -> Optional[str]:
    """LocalPath in the file that TENSORBOARD_CONFIG_FILE_PATH names; None when there is no such file."""
    path = (
        os.environ.get(config_constants.TENSORBOARD_CONFIG_FILE_PATH_ENV_STR)
        or config_constants.DEFAULT_SAGEMAKER_TENSORBOARD_PATH
    )
    if not os.path.isfile(path):
        return None
    with open(path, encoding="utf-8") as file:
        folder = json.load(file).get("LocalPath")
    return None if folder is None else str(folder)


def parse_json_config(path: str) -> dict[str, Any]:
    """The file, read by the one parser that trainwarden's programs have for it.

    Raises:
        FileNotFoundError: there is none.
        SMDebugValueError: it is wrong; the message says where.
    """
    with open(path, encoding="utf-8") as file:
        text = file.read()
    try:
        parsed: dict[str, Any] = json.loads(trainwarden._core.parse_smdebug_config(text, path))
    except ValueError as error:
        raise SMDebugValueError(str(error)) from None
    return parsed


def create_hook_from_json_config(hook_cls: type[_AnyHook], json_config_path: Optional[PathLike]) -> _AnyHook:
    """See BaseHook.create_from_json_file()."""
    config = parse_json_config(get_json_config_path(json_config_path))
    make: Any = hook_cls
    hook: Any = make(
        out_dir=config["out_dir"] or config_constants.DEFAULT_SAGEMAKER_OUTDIR,
        export_tensorboard=config["export_tensorboard"],
        tensorboard_dir=config["tensorboard_dir"] or get_tensorboard_dir_from_json_config(),
        dry_run=config["dry_run"],
        reduction_config=ReductionConfig.from_dict(config["reduction_config"]),
        save_config=SaveConfig.from_dict(config["save_config"]),
        include_regex=config["include_regex"] or None,
        include_collections=config["include_collections"],
        save_all=config["save_all"],
        include_workers=config["include_workers"],
    )
    for name, parameters in config["collections"].items():
        _configure(hook.get_collection(name), parameters)
    made: _AnyHook = hook
    return made


def _configure(collection: Any, parameters: dict[str, Any]) -> None:
    collection.save_config = SaveConfig.from_dict(parameters.get("save_config"))
    reduction_config = ReductionConfig.from_dict(parameters.get("reduction_config"))
    if reduction_config is not None:
        collection.reduction_config = reduction_config
    collection.include(parameters.get("include_regex") or [])
    if parameters.get("save_histogram") is not None:
        collection.save_histogram = parameters["save_histogram"]
