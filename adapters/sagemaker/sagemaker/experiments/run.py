"""Run: one execution of something, in an experiment: a component, which belongs to the experiment's usual trial."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import datetime
from enum import Enum
from functools import cached_property
from types import TracebackType
from typing import Any

from smexperiments._base import new_name
from smexperiments.experiment import Experiment
from smexperiments.tracker import Tracker
from smexperiments.trial import Trial
from smexperiments.trial_component import TrialComponent
from trainwarden.experiments import Tracker as Record
from trainwarden.experiments import default_trial

from .._current_run import current_run, enter_run, leave_run
from .._entities import experiments_folder
from .._keywords import Keyword, Keywords, takes
from ..exceptions import ClientError, NotHere
from ..session import Session

__all__ = ["LIST_RUNS", "LOAD_RUN", "RUN", "Run", "SortByType", "SortOrderType", "list_runs", "load_run"]

_OF_JOB = "TRAINWARDEN_COMPONENT"
_WHERE = [
    Keyword("sagemaker_session", "whose experiments"),
    Keyword("artifact_bucket", "the bucket that log_file() copies files to"),
    Keyword("artifact_prefix", "the folder in it"),
]
RUN = Keywords(
    "Run",
    [
        Keyword("experiment_name", "the experiment; it is made when it is not there"),
        Keyword("run_name", "its name within the experiment; without one it gets one with the time in it"),
        Keyword("experiment_display_name", "what people read, of an experiment that is made"),
        Keyword("run_display_name", "what people read, of a run that is made"),
        Keyword("tags", "a list of Key and Value, of what is made"),
        *_WHERE,
    ],
)
LOAD_RUN = Keywords(
    "load_run",
    [
        Keyword("run_name", "its name; without one the run that is open, else that of the job which runs this program"),
        Keyword("experiment_name", "its experiment"),
        *_WHERE,
    ],
)
LIST_RUNS = Keywords(
    "list_runs",
    [
        Keyword("experiment_name", "whose runs"),
        Keyword("created_before", "those that were made before"),
        Keyword("created_after", "those that were made after"),
        Keyword("sagemaker_session", "whose experiments"),
        Keyword("max_results", "how many at most"),
        Keyword("next_token", "all are there at once; leave it out", refused=True),
        Keyword("sort_by", "SortByType.CREATION_TIME or NAME"),
        Keyword("sort_order", "SortOrderType.DESCENDING or ASCENDING"),
    ],
)
_DRAWN = "compute it with scikit-learn, and log its values with log_metric() or its picture with log_file()"
_NOT_HERE = {"log_precision_recall": _DRAWN, "log_roc_curve": _DRAWN, "log_confusion_matrix": _DRAWN}


class SortByType(Enum):
    """What runs are listed by."""

    CREATION_TIME = "CreationTime"
    NAME = "Name"


class SortOrderType(Enum):
    """In which order."""

    ASCENDING = "Ascending"
    DESCENDING = "Descending"


@takes(RUN)
class Run:
    """A run that is there goes on; else it is made. As a context it says how it ended, and jobs that are submitted
    meanwhile belong to its experiment.

    Attributes:
        experiment_name, run_name, run_group_name: the experiment, the run, the trial that both have.
        experiment_config: the argument of fit() by which a job belongs to them.
    """

    def __init__(self, *positional: Any, **given: Any):
        options = RUN.take(positional, given)
        if not options["experiment_name"]:
            raise ValueError("Run: experiment_name: expected the name of an experiment, found none")
        self.experiment_name: str = options["experiment_name"]
        self.run_name: str = options["run_name"] or new_name("run")
        self.run_group_name = default_trial(self.experiment_name)
        self._client = (options["sagemaker_session"] or Session()).sagemaker_client
        self._component = _component_name(self.experiment_name, self.run_name)
        self._options = options
        _ensure_experiment(self._client, options)
        _ = self._tracker  # it is there from now on

    @property
    def experiment_config(self) -> dict[str, str]:
        return {"ExperimentName": self.experiment_name, "TrialName": self.run_group_name, "RunName": self.run_name}

    @property
    def trial_component(self) -> TrialComponent:
        """With all that was logged so far."""
        return self._tracker.trial_component

    def log_parameter(self, name: str, value: Any) -> None:
        """A number or a text."""
        self._tracker.log_parameter(name, value)

    def log_parameters(self, parameters: Mapping[str, Any]) -> None:
        """All of them, or, when one cannot be a parameter, none."""
        self._tracker.log_parameters(dict(parameters))

    def log_metric(
        self, name: str, value: float, timestamp: datetime | float | None = None, step: int | None = None
    ) -> None:
        """One more value. Of all values their summary is kept; the last is that of the greatest `step`."""
        self._tracker.log_metric(name, value, timestamp, step)

    def log_artifact(self, name: str, value: str, media_type: str | None = None, is_output: bool = True) -> None:
        """What came out, or went in: a path, whose content is hashed, or an address."""
        log = self._tracker.log_output if is_output else self._tracker.log_input
        log(name, value, media_type)

    def log_file(
        self,
        file_path: str,
        name: str | None = None,
        media_type: str | None = None,
        is_output: bool = True,
        extra_args: Mapping[str, Any] | None = None,
    ) -> None:
        """Copies a file into the bucket, and logs it.

        Raises:
            ValueError: TRAINWARDEN_BUCKETS is not set.
            OSError: it cannot be copied.
        """
        if extra_args:
            raise NotHere("Run.log_file: extra_args: a bucket is a folder of this machine; leave it out")
        address = self._tracker.keep_file(file_path)
        self.log_artifact(name or os.path.basename(file_path), address, media_type, is_output)

    def close(self) -> None:
        """Returns when all that was logged is written; a run that was made here is then Completed."""
        self._tracker.close()

    def __enter__(self) -> Run:
        enter_run(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        leave_run(self)
        self._tracker.__exit__(kind, error, trace)

    def __getattr__(self, name: str) -> Any:
        if name in _NOT_HERE:
            raise NotHere(f"Run.{name}: {_NOT_HERE[name]}")
        raise AttributeError(f"Run has no attribute {name!r}")

    def __repr__(self) -> str:
        return f"<run {self.run_name} of {self.experiment_name}>"

    @cached_property
    def _tracker(self) -> Tracker:
        record = self._record()
        found = TrialComponent.load(self._component, self._client)
        return Tracker(found, record, self._options["artifact_bucket"], self._options["artifact_prefix"])

    def _record(self) -> Record:
        record = Record(
            self._component,
            experiment=self.experiment_name,
            trial=self.run_group_name,
            display_name=self._options["run_display_name"] or "",
            run_name=self.run_name,
            folder=experiments_folder(self._client),
        )
        for tag in self._options["tags"] or ():
            record.set_tag(tag["Key"], tag["Value"])
        return record


class _LoadedRun(Run):
    """A run that is there, or the component of a job."""

    def __init__(self, experiment: str, run: str, component: str, options: Mapping[str, Any]):
        self.experiment_name, self.run_name = experiment, run
        self.run_group_name = default_trial(experiment)
        self._client, self._component, self._options = options["client"], component, dict(options)

    def _record(self) -> Record:
        record = Record(self._component, folder=experiments_folder(self._client))
        record._says_status = not self._component.endswith("-aws-training-job")  # how a job stands is its own to say
        return record


def load_run(*positional: Any, **given: Any) -> Run:
    """A run that is there: by its name and experiment, or the one that is open, or that of the job which runs this
    program: the run that the job was submitted in, else the job's own component.

    Raises:
        ClientError: there is no such run.
        ValueError: no name, with no run open, outside of a job of an experiment.
    """
    options = LOAD_RUN.take(positional, given)
    options["client"] = (options["sagemaker_session"] or Session()).sagemaker_client
    name, experiment = options["run_name"], options["experiment_name"]
    if bool(name) != bool(experiment):
        raise ValueError("load_run: expected run_name and experiment_name, or neither of them")
    if name:
        component = _component_name(experiment, name)
        TrialComponent.load(component, options["client"])  # it must be there
        return _LoadedRun(experiment, name, component, options)
    open_run: Run | None = current_run()
    return open_run if open_run is not None else _run_of_job(options)


def list_runs(*positional: Any, **given: Any) -> list[Run]:
    """The runs of an experiment, the newest first.

    Raises:
        ClientError: there is no such experiment.
    """
    options = LIST_RUNS.take(positional, given)
    client = (options["sagemaker_session"] or Session()).sagemaker_client
    experiment = Experiment.load(options["experiment_name"], client).experiment_name
    found = TrialComponent.list(
        created_before=options["created_before"],
        created_after=options["created_after"],
        sort_by=_word(options["sort_by"]),
        sort_order=_word(options["sort_order"]),
        experiment_name=experiment,
        sagemaker_boto_client=client,
    )
    runs = [(each, each.run_name) for each in found if each.run_name]
    own = [(each, run) for each, run in runs if each.trial_component_name == _component_name(experiment, run)]
    where = {"client": client, "artifact_bucket": None, "artifact_prefix": None}
    return [_LoadedRun(experiment, run, each.trial_component_name, where) for each, run in own[: options["max_results"]]]


def _component_name(experiment: str, run: str) -> str:
    return f"{experiment}-{run}"


def _word(choice: Any) -> str | None:
    return None if choice is None else str(choice.value if isinstance(choice, Enum) else choice)


def _ensure_experiment(client: Any, options: Mapping[str, Any]) -> None:
    name = options["experiment_name"]
    try:
        Experiment.load(name, client)
    except ClientError as error:
        if error.response["Error"]["Code"] != "ResourceNotFound":
            raise
        display = options["experiment_display_name"]
        Experiment.create(name, display_name=display, tags=options["tags"], sagemaker_boto_client=client)


def _run_of_job(options: Mapping[str, Any]) -> Run:
    component = os.environ.get(_OF_JOB, "")
    if not component:
        raise ValueError("load_run: outside of a run and of a job of an experiment expected run_name and experiment_name")
    job = TrialComponent.load(component, options["client"])
    experiment = Trial.load(next(job.list_trials()), options["client"]).experiment_name
    name = job.run_name or component
    if job.run_name:
        try:
            own = _component_name(experiment, name)
            TrialComponent.load(own, options["client"])
            return _LoadedRun(experiment, name, own, options)
        except ClientError as error:
            if error.response["Error"]["Code"] != "ResourceNotFound":
                raise
    return _LoadedRun(experiment, name, component, options)
