"""The keys of `settings`: which there are, and which of them do something here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .errors import SDAError, refuse_unknown

USED = (
    "model_name", "enable_sigopt", "observation_budget", "save_path", "data_path", "train_dataset_path",
    "eval_dataset_path", "custom_result_path", "conf", "model_parameter", "metrics", "metric", "metric_objective",
    "metric_threshold", "training_time_threshold", "step_threshold", "num_epochs", "train_batch_size", "program",
)  # fmt: skip

# Of those: for BERT alone.
OF_BERT = (
    "data_path", "train_dataset_path", "eval_dataset_path", "step_threshold", "num_epochs", "train_batch_size",
    "program",
)  # fmt: skip

# Known, and of no effect: why.
UNUSED = {
    **dict.fromkeys(
        ("cores", "ppn", "hosts", "hostfile", "iface", "ccl_worker_num", "mpi_num_processes"),
        "a training is started as one process of this machine; docs/guide/bert-many-ranks.md has more",
    ),
    **dict.fromkeys(
        ("python_executable", "python_path", "executable_python", "train_script", "train_path", "current_path"),
        "the command of a registered model says what is run",
    ),
    **dict.fromkeys(("global_batch_size", "test_batch_size", "model_dir", "dataset_meta_path"), "no model here has it"),
    "enable_model_cache": "the history is always kept and used",
    "interative": "nobody is asked",
    "interactive": "nobody is asked",
    "server": "there is no server",
    "project": "studies have no project",
    "experiment": "a study is named after its model",
}

_OF_ONE = ("mpi_num_processes", "ppn")  # 1 is what is done


def checked(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings, each of them known. SDAError for others, with the nearest that is known."""
    refuse_unknown("settings", settings, (*USED, *UNUSED))
    for key in ("metric_threshold", "training_time_threshold", "step_threshold", "observation_budget", "num_epochs"):
        value = settings.get(key)
        if value is not None and (isinstance(value, bool) or not isinstance(value, (int, float))):
            raise SDAError(f"settings: {key}: expected a number, found {value!r}")
    budget = settings.get("observation_budget", 1)
    if budget != int(budget) or budget < 1:
        raise SDAError(f"settings: observation_budget: expected a whole number from 1, found {budget!r}")
    return dict(settings)


def of_no_model(settings: Mapping[str, Any]) -> list[str]:
    """A sentence for each that was set and changes nothing where the model is a registered one."""
    idle = [key for key in OF_BERT if key in settings]
    return [f"settings: {key} has no effect: the command gets its parameters alone" for key in idle]


def without_effect(settings: Mapping[str, Any]) -> list[str]:
    """A sentence for each that was set and changes nothing, whatever the model."""
    idle = [key for key in settings if key in UNUSED and not (key in _OF_ONE and settings[key] == 1)]
    return [f"settings: {key} has no effect: {UNUSED[key]}" for key in idle]
