"""What register() is told of a model."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Optional

from .errors import SDAError, refuse_unknown

_KEYS = (
    "score_metrics", "experiment_name", "tune_training_time", "hyper_parameters", "hpo_config", "execute_cmd",
    "execute_cmd_base", "result_file_name", "observation_budget",
)  # fmt: skip
_OF_A_SHELL = ("&&", "||", "|", ";", ">", ">>", "<", "&")


@dataclass(frozen=True)
class ModelInfo:
    """A model that is trained by a command of one's own.

    Attributes:
        command: words; no shell takes part.
        hyper_parameters: values of what is not searched, and what is tried first of what is.
        hpo_config: what is searched.
        score_metrics: what is measured.
        tunes_time: whether the time is to be minimized, too.
        result_file: its name, in the folder that the command is given, or the path.
        budget: trials of a launch; None: the settings say.
    """

    command: list[str]
    hyper_parameters: dict[str, Any]
    hpo_config: list[Any]
    score_metrics: list[Any]
    tunes_time: bool
    result_file: Optional[str]
    budget: Optional[int]


def read_info(info: Mapping[str, Any]) -> ModelInfo:
    """SDAError for a key that means nothing and for a model without a command."""
    refuse_unknown("register", info, _KEYS)
    command = info.get("execute_cmd", info.get("execute_cmd_base"))
    return ModelInfo(
        command=_words(command),
        hyper_parameters=dict(info.get("hyper_parameters") or {}),
        hpo_config=list(info.get("hpo_config") or []),
        score_metrics=list(info.get("score_metrics") or []),
        tunes_time=bool(info.get("tune_training_time", False)),
        result_file=info.get("result_file_name"),
        budget=info.get("observation_budget"),
    )


def _words(command: Any) -> list[str]:
    try:
        words = shlex.split(command) if isinstance(command, str) else [str(word) for word in command or []]
    except ValueError as error:
        raise SDAError(f"register: execute_cmd: {error}") from None
    if not words:
        raise SDAError(f"register: execute_cmd: expected a command, found {command!r}")
    for word in words if isinstance(command, str) else []:
        if word in _OF_A_SHELL:
            raise SDAError(
                f"register: execute_cmd: no shell takes part, and {word} would be a word of the command: write a list, "
                'such as ["bash", "-c", "..."]'
            )
    return words
