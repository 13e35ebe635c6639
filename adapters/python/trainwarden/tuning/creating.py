"""Makes studies, in our words and in Optuna's."""

from __future__ import annotations

import logging
import os
import re
import secrets
from collections.abc import Mapping, Sequence
from typing import Any, Optional, Union

from .. import errors
from . import _calls
from ._calls import PathLike
from .exceptions import DuplicatedStudyError
from .pruners import BasePruner
from .samplers import BaseSampler
from .study import Study
from .trial_states import StudyDirection

_MOST_NAME = 52  # characters of a study's name
_logger = logging.getLogger("trainwarden")

Direction = Union[str, StudyDirection]


def create_study(
    spec: Optional[Mapping[str, Any]] = None,
    *,
    name: Optional[str] = None,
    parameters: Optional[Mapping[str, Any]] = None,
    metrics: Optional[Mapping[str, Any]] = None,
    constraints: Optional[list[Mapping[str, Any]]] = None,
    budget: Optional[Mapping[str, Any]] = None,
    sampler: Union[str, BaseSampler, None] = None,
    pruner: Union[str, BasePruner, None] = None,
    seed: Optional[int] = None,
    parallel: Optional[int] = None,
    job: Optional[PathLike] = None,
    open: Optional[bool] = None,
    from_studies: Optional[Sequence[str]] = None,
    folder: Optional[PathLike] = None,
    study_name: Optional[str] = None,
    direction: Optional[Direction] = None,
    directions: Optional[Sequence[Direction]] = None,
    storage: Optional[PathLike] = None,
    load_if_exists: bool = False,
) -> Study:
    """Makes a study and opens it.

    `spec` has the keys of docs/reference/tune.md; arguments take the place of what it says. A path in `job` begins in
    the folder that this process works in. Samplers begin with what the trials of `from_studies`, studies of the same
    folder, have found. `folder` holds the studies: TRAINWARDEN_STUDIES, else ./studies.

    Without `spec`, `name`, `parameters` and `metrics` it is as Optuna has it: an open study, whose trials ask for what
    they need, of one objective, "value", or by `directions` of several, value_0 and so on. What `study_name` has beside
    letters and digits becomes hyphens; without it, one is made up. `storage` is a folder of studies, as `folder`. The
    sampler is "tpe" and the pruner "median" then, unless they are said.

    InvalidArgument tells every mistake, one a line. FailedPrecondition when there is a study of this name already:
    exceptions.DuplicatedStudyError, unless `load_if_exists`.
    """
    said = {"name": name, "parameters": parameters, "metrics": metrics, "constraints": constraints, "budget": budget,
            "sampler": _text_of(sampler), "pruner": _text_of(pruner), "seed": _seed_of(seed, sampler),
            "parallel": parallel, "job": job, "open": open,
            "from": list(from_studies) if from_studies is not None else None}  # fmt: skip
    whole = {**(spec or {}), **{key: value for key, value in said.items() if value is not None}}
    place = _folder_of(folder, storage)
    is_ours = bool(spec) or any(each is not None for each in (name, parameters, metrics, job))
    if is_ours and (study_name or direction or directions):
        raise errors.InvalidArgument("expected name and metrics, or study_name and direction, found some of both")
    if not is_ours and spec is None:
        whole = {**_open_spec(study_name, direction, directions), **whole}
    if not whole.get("name"):
        raise errors.InvalidArgument("a study: expected a name")
    if "job" in whole:
        whole["job"] = os.path.abspath(whole["job"])
    return _made(whole, place, load_if_exists)


def load_study(*, study_name: Optional[str], storage: Optional[PathLike] = None, sampler: object = None,
               pruner: object = None) -> Study:  # fmt: skip
    """The study with this name, of the folder `storage`. It keeps the sampler and the pruner that it was made with."""
    if study_name is None:
        raise errors.InvalidArgument("study_name: expected a name; `trainwarden study ls` lists them")
    if sampler is not None or pruner is not None:
        _logger.warning("study %s keeps the sampler and the pruner that it was made with", study_name)
    return Study.open(_name_of(study_name), _folder_of(None, storage))


def _made(spec: Mapping[str, Any], folder: Optional[PathLike], load_if_exists: bool) -> Study:
    try:
        return Study(_calls.create(spec, folder), folder)
    except errors.FailedPrecondition as error:
        if "already:" not in str(error):
            raise
        if load_if_exists:
            return Study.open(str(spec["name"]), folder)
        raise DuplicatedStudyError(str(error)) from None


def _open_spec(
    study_name: Optional[str], direction: Optional[Direction], directions: Optional[Sequence[Direction]]
) -> dict[str, Any]:
    if direction is not None and directions is not None:
        raise errors.InvalidArgument("expected direction or directions, found both")
    goals = [StudyDirection(str(each).lower()) for each in directions or [direction or "minimize"]]
    digits = len(str(len(goals) - 1))
    names = ["value"] if len(goals) == 1 else [f"value_{i:0{digits}}" for i in range(len(goals))]
    if study_name is None:
        study_name = f"study-{secrets.token_hex(4)}"
        _logger.info("the study is %s; `trainwarden study show %s` shows it", study_name, study_name)
    return {
        "name": _name_of(study_name),
        "open": True,
        "metrics": {name: {"goal": goal.value} for name, goal in zip(names, goals)},
        "sampler": "tpe",
        "pruner": "median" if len(goals) == 1 else "none",
    }


def _name_of(text: str) -> str:
    """ "my_study" becomes "my-study"."""
    name = re.sub("[^A-Za-z0-9]+", "-", text)[:_MOST_NAME].strip("-")
    if not name:
        raise errors.InvalidArgument(f"study_name: expected letters and digits, found {text!r}")
    return name


def _folder_of(folder: Optional[PathLike], storage: Optional[PathLike]) -> Optional[PathLike]:
    if storage is None:
        return folder
    if not isinstance(storage, (str, os.PathLike)) or "://" in str(storage):
        raise errors.InvalidArgument(
            f"storage: expected a folder of studies, found {storage!r}: `trainwarden study import FILE` makes a study "
            "of what Optuna has kept"
        )
    return storage


def _text_of(choice: Union[str, BaseSampler, BasePruner, None]) -> Optional[str]:
    return choice.text if isinstance(choice, (BaseSampler, BasePruner)) else choice


def _seed_of(seed: Optional[int], sampler: Union[str, BaseSampler, None]) -> Optional[int]:
    return sampler.seed if seed is None and isinstance(sampler, BaseSampler) else seed
