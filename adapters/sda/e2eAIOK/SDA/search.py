"""A launch: trials of a study, each a training by the model's command."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional

from trainwarden import errors
from trainwarden.tuning import Study, StudyEnded, Trial, TrialRecord, create_study

from . import process
from .models import Model
from .results import PrintedMetrics, ResultError, ResultFile
from .say import say, warn
from .trial_lock import TrialLock, is_left
from .wishes import TIME, Wishes

_SAMPLER = "auto"
_FIXED_PARAMETER = "training"  # a study has a parameter, and a training need not have one


@dataclass(frozen=True)
class Places:
    """Where things lie: the studies, and in a folder for each study those of its trials."""

    studies: Path
    results: Path

    def of_trial(self, study: Study, number: int) -> Path:
        return self.results / study.name / str(number)


def open_study(model_name: str, model: Model, wishes: Wishes, places: Places) -> Study:
    """The study of this model, space and target, which is made when there is none. A launch that is started again
    goes on with it: nothing that was tried is lost."""
    parameters = wishes.parameters or {_FIXED_PARAMETER: {"choices": ["defaults"]}}
    said = json.dumps([model_name, model.identity, parameters, wishes.metrics, sorted(wishes.flags)], sort_keys=True)
    plain = re.sub(r"[^A-Za-z0-9]+", "-", model_name)[:30].strip("-") or "model"
    name = f"sda-{plain}-{hashlib.sha256(said.encode()).hexdigest()[:12]}"
    if (places.studies / name / "study.json").exists():
        return Study.open(name, places.studies)
    return create_study(
        name=name,
        parameters=parameters,
        metrics=wishes.metrics,
        sampler=_SAMPLER,
        budget={"stop_at_target": False},  # a launch does, and a later one goes on
        folder=places.studies,
    )


class Search:
    """The trials of one launch."""

    def __init__(self, study: Study, model: Model, wishes: Wishes, places: Places, fixed: dict[str, Any]):
        """`fixed`: values that the command gets beside those of a trial."""
        self._study, self._model, self._wishes, self._places, self._fixed = study, model, wishes, places, fixed

    def take_over(self) -> None:
        """What an earlier launch has left: trials whose processes are gone are failed, and their values are tried
        again."""
        for trial in self._study.trials:
            if trial.state != "running" or not is_left(self._places.of_trial(self._study, trial.number)):
                continue
            self._study.trial(trial.number).fail("its process is gone")
            again = self._study.enqueue(trial.params)
            warn(f"trial {trial.number} was interrupted: its values are tried again as trial {again.number}")

    def run(self, most: int, after_each: Callable[[], None]) -> None:
        """So many trials at most, fewer when one meets the target."""
        for _ in range(most):
            try:
                trial = self._study.ask()
            except StudyEnded as error:
                warn(str(error))
                return
            except errors.FailedPrecondition as error:  # a space of few points, which have all been tried
                warn(str(error))
                return
            self._train(trial)
            after_each()
            if self.meets_target(trial.record()):
                say(f"trial {trial.number} meets the target: no more are needed", "sigopt")
                return

    def meets_target(self, trial: TrialRecord) -> bool:
        """Whether there is one, and a trial meets all of it."""
        targets = {name: metric for name, metric in self._wishes.metrics.items()
                   if metric.get("threshold") is not None and metric["strategy"] != "store"}  # fmt: skip
        if trial.state != "complete" or not targets:
            return False
        return all(_reaches(trial.metrics.get(name), metric) for name, metric in targets.items())

    def _train(self, trial: Trial) -> None:
        """Whatever goes wrong with the training is the trial's failure, and its reason is kept."""
        folder = self._places.of_trial(self._study, trial.number)
        with trial, TrialLock(folder) as lock, trial:  # failed before the lock goes, where something is raised
            try:
                metrics = self._metrics_of(trial, folder, lock)
            except (OSError, ResultError) as error:
                warn(f"trial {trial.number} failed: {error}")
                trial.fail(str(error))
                return
            try:
                trial.finish(**metrics)
            except errors.Error as error:
                warn(f"trial {trial.number} failed: {error}")
                trial.fail(str(error))

    def _metrics_of(self, trial: Trial, folder: Path, lock: TrialLock) -> dict[str, float]:
        values = {name: trial.params[name] for name in self._wishes.parameters if name in trial.params}
        words = self._model.words({**self._fixed, **values}, self._wishes.flags, folder)
        names = [name for name in self._wishes.metrics if name != TIME]
        printed = PrintedMetrics(self._wishes.metrics)
        file = self._result_file(folder)
        say(f"training launch command: {words}", "sigopt")
        ended = process.run(words, folder / "output.log", printed.take, [lock.descriptor])
        say(f"Training completed in trial {trial.number}, took {ended.seconds} secs", "sigopt")
        if ended.exit_code != 0:
            raise ResultError(_failure(ended, folder))
        found = file.read(names) if file is not None else printed.values
        missing = [name for name in names if name not in found]
        if missing:
            where = file.place if file is not None else folder / "output.log"
            raise ResultError(f"no {', '.join(missing)} in {where}; the last line it printed: {ended.last_line!r:.300}")
        return {TIME: printed.values.get(TIME, ended.seconds), **{name: found[name] for name in names}}

    def _result_file(self, folder: Path) -> Optional[ResultFile]:
        if self._model.result_file is None:
            return None
        return ResultFile(self._model.result_file, folder, self._model.result_part)


def _reaches(value: Optional[float], metric: dict[str, Any]) -> bool:
    if value is None:
        return False
    threshold = float(metric["threshold"])
    return value <= threshold if metric["goal"] == "minimize" else value >= threshold


def _failure(ended: process.Ended, folder: Path) -> str:
    how = f"exit code {ended.exit_code}" if ended.exit_code > 0 else f"signal {-ended.exit_code}"
    return f"{how}: {ended.last_line:.300} ({folder / 'output.log'})"
