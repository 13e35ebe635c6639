"""Models: by what command each is trained, what is searched and measured of it, and where its result is."""

from __future__ import annotations

import json
import os
import shutil
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Optional

from .errors import SDAError
from .model_info import ModelInfo

_WINDOW = 384  # pieces: the trainer's default

# What the kit has trainers of and Trainwarden has not.
_ELSEWHERE = ("wnd", "dlrm", "dien", "twitter_recsys", "upm", "minigo", "rnnt", "resnet", "pipeline_test")


class Model(ABC):
    """A model that is trained by a command.

    Attributes:
        defaults: the values of its parameters where none are searched.
        hpo_config: what is searched of it, where nobody says otherwise.
        metric: what is measured of it, where nobody says otherwise; None: somebody must.
        result_file: its name, in the folder of a trial; None: it prints its metrics.
        result_part: the object in that file that has the metrics; None: the file's whole.
    """

    defaults: dict[str, Any] = {}
    hpo_config: list[Any] = []
    metric: Optional[str] = None
    result_file: Optional[str] = None
    result_part: Optional[str] = None

    @abstractmethod
    def words(self, values: Mapping[str, Any], flags: set[str], folder: Path) -> list[str]:
        """The command with these values, which may write into `folder`."""

    @property
    @abstractmethod
    def identity(self) -> list[str]:
        """What makes it another model: another study is kept of it."""


class RegisteredModel(Model):
    """That of register()."""

    def __init__(self, info: ModelInfo):
        self._info = info
        self.defaults, self.hpo_config, self.result_file = info.hyper_parameters, info.hpo_config, info.result_file

    def words(self, values: Mapping[str, Any], flags: set[str], folder: Path) -> list[str]:
        words = [*self._info.command]
        for name, value in values.items():
            if name in flags:
                words += [f"--{name}"] if value else []
            else:
                words += option_words(name, value)
        return [*words, "--saved_path", str(folder)]

    @property
    def identity(self) -> list[str]:
        return self._info.command


class BertModel(Model):
    """BERT on SQuAD, by Trainwarden's own trainer (docs/guide/bert.md)."""

    defaults = {"train_batch_size": 24, "learning_rate": 3e-5, "warmup_proportion": 0.1}
    hpo_config = [
        {"name": "learning_rate", "type": "double", "bounds": {"min": 3e-5, "max": 3e-4}},
        {"name": "warmup_proportion", "type": "double", "bounds": {"min": 0.1, "max": 0.3}},
        {"name": "train_batch_size", "grid": [12, 16, 24, 96, 128]},
    ]
    metric = "f1"
    result_file = "trained/result.json"
    result_part = "after"
    _OPTIONS = {
        "learning_rate": "--learning-rate",
        "warmup_proportion": "--warmup",
        "warmup_rate": "--warmup",
        "train_batch_size": "--batch-size",
        "batch_size": "--batch-size",
        "num_hidden_layers": "--layers",
        "dropout_prob": "--dropout",
    }

    def __init__(self, settings: Mapping[str, Any]):
        self._settings = settings
        if settings.get("train_batch_size"):
            self.defaults = {**self.defaults, "train_batch_size": settings["train_batch_size"]}
        folder = _data_folder(settings)
        self._program = _bert_program(settings)
        self._model = _bert_folder(folder)
        self._train = _squad_file(settings.get("train_dataset_path"), folder, "train-v1.1.json")
        self._dev = _squad_file(settings.get("eval_dataset_path"), folder, "dev-v1.1.json")

    def words(self, values: Mapping[str, Any], flags: set[str], folder: Path) -> list[str]:
        words = [self._program, "train-spans", "--model", str(self._model), "--train", str(self._train)]
        words += ["--dev", str(self._dev), "--out", str(folder / "trained")]
        words += ["--epochs", str(self._settings.get("num_epochs", 2)), *_window_words(self._model)]
        if self._settings.get("step_threshold"):
            words += ["--step-threshold", str(int(self._settings["step_threshold"]))]
        if self._settings.get("metric", "f1") == "f1" and self._settings.get("metric_threshold"):
            words += ["--f1-threshold", str(self._settings["metric_threshold"])]
        for name, value in values.items():
            if name not in self._OPTIONS:
                known = ", ".join(self._OPTIONS)
                raise SDAError(f'BERT: the parameter "{name}" is not known to the trainer; known are {known}')
            words += [self._OPTIONS[name], str(value)]
        return words

    @property
    def identity(self) -> list[str]:
        return [str(path.resolve()) for path in (self._model, self._train, self._dev)]


def make_model(name: str, info: Optional[ModelInfo], settings: Mapping[str, Any]) -> Model:
    """SDAError when the model is neither registered nor one that is trained here, or its files are not there."""
    if info is not None:
        return RegisteredModel(info)
    if name == "bert":
        return BertModel(settings)
    what = "has a trainer in Intel's kit and none here" if name in _ELSEWHERE else "is not known"
    raise SDAError(f'the model "{name}" {what}: say how it is trained: sda.register({{"execute_cmd": ...}})')


def option_words(name: str, value: Any) -> list[str]:
    """An option of a command. A text that begins with "-" would be taken for another one."""
    text = str(value)
    return [f"--{name}={text}"] if isinstance(value, str) and text.startswith("-") else [f"--{name}", text]


def _data_folder(settings: Mapping[str, Any]) -> Path:
    if not settings.get("data_path"):
        raise SDAError("BERT: expected settings[\"data_path\"], a folder with a model and SQuAD's files")
    folder = Path(settings["data_path"])
    if not folder.is_dir():
        raise SDAError(f'BERT: expected a folder in settings["data_path"], found none in {folder}')
    return folder


def _bert_program(settings: Mapping[str, Any]) -> str:
    """That of the settings, of PATH, else that beside the program trainwarden."""
    named = settings.get("program") or shutil.which("bert")
    if named:
        return str(named)
    from trainwarden import _program

    beside = Path(_program.find()).parent / "bert"
    if os.access(beside, os.X_OK):
        return str(beside)
    raise SDAError(
        "BERT: the trainer bert is neither in PATH nor beside the program trainwarden: build it (docs/guide/bert.md), "
        'or set settings["program"] to its path'
    )


def _bert_folder(folder: Path) -> Path:
    found = sorted({path.parent for depth in ("", "*/", "*/*/") for path in folder.glob(f"{depth}config.json")})
    whole = [each for each in found if (each / "model.safetensors").is_file()]
    if len(whole) == 1:
        return whole[0]
    names = ", ".join(map(str, whole)) or "none"
    raise SDAError(
        f"BERT: expected in {folder}, two folders down at most, one folder with config.json and model.safetensors, "
        f"found {names}; `bert convert` makes one of Google's checkpoints (docs/guide/bert.md)"
    )


def _window_words(model: Path) -> list[str]:
    """For a model that reads less at once than the trainer's windows have: smaller ones."""
    try:
        most = json.loads((model / "config.json").read_text(encoding="utf-8"))["max_position_embeddings"]
    except (ValueError, KeyError, TypeError):  # the trainer says what is wrong with it
        return []
    return ["--max-length", str(most), "--stride", str(most // 3)] if most < _WINDOW else []


def _squad_file(named: Any, folder: Path, name: str) -> Path:
    path = Path(named) if named else folder
    file = path / name if path.is_dir() else path
    if not file.is_file():
        raise SDAError(f"BERT: expected SQuAD's {name}, found none in {file}")
    return file
