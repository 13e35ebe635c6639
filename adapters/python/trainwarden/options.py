"""What to capture, when and in which form: collections, save policies, keep forms."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from enum import Enum
from typing import Any, Union


class Mode(str, Enum):
    """Which part of training a step belongs to; the names "train", "eval", ... do as well.

    A program that never sets a mode is in GLOBAL, and its steps have only a global number. In queries GLOBAL means "by
    global step, in any mode".
    """

    TRAIN = "train"
    EVAL = "eval"
    PREDICT = "predict"
    GLOBAL = "global"


class Kept(str, Enum):
    """The form in which a tensor was saved at a step; the names "value", "statistics", ... can be used, too.

    FULLEST is the default for the steps of a tensor: the steps that hold it whole or as a scalar; when there are none,
    all steps at which it exists. Rules may need statistics at many more steps than the program saves.
    """

    FULLEST = "fullest"
    ANY = "any"
    VALUE = "value"
    STATISTICS = "statistics"
    SCALAR = "scalar"
    SHAPE = "shape"
    REDUCTIONS = "reductions"


class Reduction(str, Enum):
    """A number saved instead of a tensor. Norms are entrywise; variance and std are the population's (divided by n)."""

    MIN = "min"
    MAX = "max"
    MEAN = "mean"
    STD = "std"
    VARIANCE = "variance"
    SUM = "sum"
    L1 = "l1"
    L2 = "l2"
    PROD = "prod"  # not of statistics: of a value, or saved by itself


@dataclass(frozen=True)
class SaveSchedule:
    """The steps of one mode that are saved: those in save_steps, and multiples of save_interval from start_step up to,
    but not including, end_step. None: the value of the hook, or its default (every 500th step)."""

    save_interval: int | None = None
    start_step: int | None = None
    end_step: int | None = None  # 0: only save_steps
    save_steps: tuple[int, ...] | None = None


@dataclass(frozen=True)
class SavePolicy:
    """A schedule for each mode, decided with the mode's own step; `default` holds for modes without one."""

    default: SaveSchedule | None = None
    train: SaveSchedule | None = None
    eval: SaveSchedule | None = None
    predict: SaveSchedule | None = None
    global_: SaveSchedule | None = None


@dataclass(frozen=True)
class KeepForm:
    """The form in which a tensor is saved. A tensor of several collections is saved in all their forms."""

    values: bool = True  # whole
    statistics: bool = False  # every Reduction can be read
    histogram: bool = False  # with the statistics
    hash: bool = False  # 64 bits that show whether the bytes are equal; with the statistics
    shape: bool = False  # shape and dtype only


# An interval, a schedule for all modes, one for each mode, or what the configuration file would say.
SaveLike = Union[int, SaveSchedule, SavePolicy, Mapping[str, Any]]
# "statistics", ["values", "histogram"], a KeepForm, or what the configuration file would say.
KeepLike = Union[str, Iterable[str], KeepForm, Mapping[str, Any]]


@dataclass(frozen=True)
class Collection:
    """A named set of tensors: those in tensor_names, and those whose names match a pattern of include (PCRE2).

    A built-in collection (weights, biases, gradients, losses, optimizer_state, buffers, inputs, outputs, scalars, all)
    with neither keeps its members. `save` and `keep` as in Hook; None: the hook's.
    """

    name: str
    include: tuple[str, ...] = ()
    tensor_names: tuple[str, ...] = ()
    save: SaveLike | None = None
    keep: KeepLike | None = None


def options_json(options: Mapping[str, Any]) -> str:
    """The hook's options as the JSON of its configuration file, where they are checked."""
    document = {name: value for name, value in options.items() if value is not None}
    document["run_dir"] = os.fspath(document.get("run_dir", ""))
    if "tensorboard_dir" in document:
        document["tensorboard_dir"] = os.fspath(document["tensorboard_dir"])
    document["collections"] = [_collection(collection) for collection in document.get("collections", ())]
    for name in ("include_collections", "include"):
        document[name] = _texts(document.get(name, ()))
    if "save" in document:
        document["save"] = _save(document["save"])
    if "keep" in document:
        document["keep"] = _keep(document["keep"])
    document["labels"] = {str(name): str(value) for name, value in document.get("labels", {}).items()}
    return json.dumps(document)


def _texts(texts: str | Iterable[str]) -> list[str]:
    return [texts] if isinstance(texts, str) else list(texts)


def _collection(collection: Collection | Mapping[str, Any]) -> dict[str, Any]:
    if isinstance(collection, Mapping):
        return dict(collection)
    document: dict[str, Any] = {"name": collection.name}
    if collection.include:
        document["include"] = _texts(collection.include)
    if collection.tensor_names:
        document["tensor_names"] = _texts(collection.tensor_names)
    if collection.save is not None:
        document["save"] = _save(collection.save)
    if collection.keep is not None:
        document["keep"] = _keep(collection.keep)
    return document


def _save(save: SaveLike) -> dict[str, Any]:
    if isinstance(save, SaveSchedule):
        return {name: value for name, value in asdict(save).items() if value is not None}
    if isinstance(save, SavePolicy):
        by_mode = {"train": save.train, "eval": save.eval, "predict": save.predict, "global": save.global_}
        document = {} if save.default is None else _save(save.default)
        document.update((mode, _save(schedule)) for mode, schedule in by_mode.items() if schedule is not None)
        return document
    return dict(save) if isinstance(save, Mapping) else {"save_interval": save}


def _keep(keep: KeepLike) -> dict[str, Any]:
    if isinstance(keep, KeepForm):
        return asdict(keep)
    if isinstance(keep, Mapping):
        return dict(keep)
    return {"values": False, **{form: True for form in _texts(keep)}}
