"""Estimators: what is to be trained, how, and what of it is looked at; fit() submits a job."""

from __future__ import annotations

import contextlib
import importlib.metadata
import importlib.util
import os
import sys
from collections.abc import Callable
from typing import Any, ClassVar

from . import _program
from ._current_run import config_of_open_run
from ._estimator_keywords import ESTIMATOR, FIT, UPDATE_PROFILER
from ._keywords import Keywords, takes
from ._places import joined
from ._request import check_rules, new_job_name, training_request
from ._say import say
from ._training_job import TrainingJob
from ._waiting import log_types
from .debugger import FrameworkProfile
from .exceptions import NotHere
from .session import Session

_AFTERWARDS = "Trainwarden trains; load model.tar.gz (estimator.model_data) where the model is to be used"
_NOT_HERE = {
    "deploy": _AFTERWARDS,
    "register": _AFTERWARDS,
    "transformer": _AFTERWARDS,
    "create_model": _AFTERWARDS,
    "compile_model": _AFTERWARDS,
    "CREATE_SERIALIZER": _AFTERWARDS,
}


class EstimatorBase:
    """What estimators have in common.

    Attributes:
        latest_training_job: the job of the last fit(); None before.
        sagemaker_session: where jobs, runs and buckets are.
    """

    keywords: ClassVar[Keywords]

    def __init__(self, *positional: Any, **given: Any):
        self._options = self.keywords.take(positional, given)
        check_rules(self._options["rules"])
        self.sagemaker_session: Session = self._options["sagemaker_session"] or Session()
        self.latest_training_job: TrainingJob | None = None

    @classmethod
    def attach(cls, training_job_name: str, sagemaker_session: Session | None = None) -> EstimatorBase:
        """An estimator whose latest_training_job is one that was submitted before.

        Raises:
            ClientError: there is no such job.
        """
        session = sagemaker_session or Session()
        session.describe_training_job(training_job_name)
        estimator = cls(entry_point="", sagemaker_session=session)
        estimator.latest_training_job = TrainingJob(session, training_job_name)
        return estimator

    def fit(self, *positional: Any, **given: Any) -> None:
        """Submits a job, and waits for its end unless told otherwise.

        Raises:
            ClientError: the job has mistakes.
            ValueError: an argument that cannot be meant.
            UnexpectedStatusException: the job has failed, and was waited for.
        """
        options = FIT.take(positional, given)
        log_types(options["logs"])
        name = options["job_name"] or new_job_name(self._base_name())
        request = training_request(
            self._all_options(),
            name,
            options["inputs"],
            options["experiment_config"] or config_of_open_run(),
            self.sagemaker_session.default_output_path(),
        )
        say(f"Creating training-job with name: {name}")
        self.sagemaker_session.sagemaker_client.create_training_job(**request)
        self.latest_training_job = TrainingJob(self.sagemaker_session, name)
        if options["wait"]:
            self.latest_training_job.wait(logs=options["logs"])

    def hyperparameters(self) -> dict[str, Any]:
        """A copy of the script's arguments."""
        return dict(self._options["hyperparameters"] or {})

    def set_hyperparameters(self, **hyperparameters: Any) -> None:
        """Adds to them."""
        self._options["hyperparameters"] = {**self.hyperparameters(), **hyperparameters}

    def latest_job_debugger_artifacts_path(self) -> str | None:
        """Where what the last job captured is found, for create_trial(); None when nothing was to be captured."""
        description = self._latest().describe()
        hook = description.get("DebugHookConfig")
        if hook is None:
            return None
        if "S3OutputPath" in hook:
            return joined(hook["S3OutputPath"], description["TrainingJobName"], "debug-output")
        path: str = hook["LocalPath"]
        return path

    def latest_job_tensorboard_artifacts_path(self) -> str | None:
        """Where the last job's run is exported for TensorBoard; None when it is not."""
        description = self._latest().describe()
        config = description.get("TensorBoardOutputConfig")
        return joined(config["S3OutputPath"], description["TrainingJobName"]) if config else None

    def latest_job_profiler_artifacts_path(self) -> str | None:
        """Where the last job's profile is, for LocalSystemMetricsReader and the others of smdebug.profiler: its run. None
        when nothing is captured, or profiled."""
        description = self._latest().describe()
        hook = description.get("DebugHookConfig")
        if hook is None or description.get("ProfilingStatus") == "Disabled":
            return None
        path: str = hook["LocalPath"]
        return path

    def enable_default_profiling(self) -> None:
        """Of the last job, while it runs: the machine is sampled as often as by default, and the operators of its next ten
        steps are recorded.

        Raises:
            ClientError: it has ended.
        """
        self._profile({"DisableProfiler": None, "ProfilingIntervalInMilliseconds": None})
        self._record("--steps", "10")

    def disable_profiling(self) -> None:
        """Of the last job, while it runs: the machine is not sampled any more, and no steps are recorded but those that a
        worker has begun with. Its rules go on with what there is.

        Raises:
            ClientError: it has ended.
        """
        self._profile({"DisableProfiler": True})

    def update_profiler(self, *positional: Any, **given: Any) -> None:
        """Of the last job, while it runs: how often its machine is sampled, and of which steps operators and stacks are
        recorded.

        Raises:
            NotHere: something that cannot be changed while a job runs.
            ValueError: nothing to change, no job yet, or one that captures nothing.
            ClientError: it has ended.
        """
        options = UPDATE_PROFILER.take(positional, given)
        profile, interval = options["framework_profile_params"], options["system_monitor_interval_millis"]
        off = options["disable_framework_metrics"]
        if profile is not None and not isinstance(profile, FrameworkProfile):
            raise ValueError(f"update_profiler: framework_profile_params: expected FrameworkProfile(...), found {profile!r}")
        if profile is None and interval is None and not off:
            raise ValueError(f"update_profiler: expected something to change, found nothing; it takes {', '.join(options)}")
        if profile is not None and off:
            raise ValueError("update_profiler: expected framework_profile_params or disable_framework_metrics, found both")
        if interval is not None:
            self._profile({"DisableProfiler": None, "ProfilingIntervalInMilliseconds": interval})
        if off:
            self._profile({"ProfilingParameters": {"ProfilerEnabled": False}})
        for words in profile.windows() if profile else ():
            self._record(*words)

    def _profile(self, config: dict[str, Any]) -> None:
        client = self.sagemaker_session.sagemaker_client
        client.update_training_job(TrainingJobName=self._latest().name, ProfilerConfig=config)

    def _record(self, *words: str) -> None:
        run = self.latest_job_profiler_artifacts_path()
        if run is None:
            raise ValueError(f"{self._latest().name} captures nothing, so that nothing of it can be recorded")
        try:
            say(_program.call("profile", run, *words).strip())
        except _program.ProgramError as refused:
            raise ValueError(f"{self._latest().name}: {refused}") from refused

    @property
    def model_data(self) -> str | None:
        """Where the packed model of the last job is; None when there is none yet."""
        model: str | None = self._latest().describe().get("ModelArtifacts", {}).get("S3ModelArtifacts")
        return model

    @property
    def training_job_analytics(self) -> Any:
        """The metrics of the last job."""
        from .analytics import TrainingJobAnalytics

        return TrainingJobAnalytics(self._latest().name, sagemaker_session=self.sagemaker_session)

    def logs(self) -> None:
        """Prints what the last job prints, until its end."""
        self._latest().wait(logs="All")

    def __getattr__(self, name: str) -> Any:
        if name in _NOT_HERE:
            raise NotHere(f"{type(self).__name__}.{name}: {_NOT_HERE[name]}")
        if name in self.keywords and "_options" in vars(self):
            return self._options[name]
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")

    def _latest(self) -> TrainingJob:
        if self.latest_training_job is None:
            raise ValueError("there is no job yet: call fit() first")
        return self.latest_training_job

    def _all_options(self) -> dict[str, Any]:
        return self._options

    def _base_name(self) -> str:
        script = os.path.basename(str(self._options["entry_point"] or "job"))
        return str(self._options["base_job_name"] or os.path.splitext(script)[0].replace("_", "-"))


@takes(ESTIMATOR)
class Estimator(EstimatorBase):
    """Trains with a script, in an image or as it is."""

    keywords = ESTIMATOR


class Framework(EstimatorBase):
    """Trains with a script of a framework."""

    _framework: ClassVar[str]  # "pytorch"
    _module: ClassVar[str]  # that it is imported as

    def __init__(self, *positional: Any, **given: Any):
        super().__init__(*positional, **given)
        for message in (self._stand_in(), self._version(), self._python()):
            if message:
                say(message)

    def _all_options(self) -> dict[str, Any]:
        return {**self._options, "framework": self._framework}

    def _base_name(self) -> str:
        return str(self._options["base_job_name"] or f"{self._framework}-training")

    def _stand_in(self) -> str:
        name = type(self).__name__
        if importlib.util.find_spec(self._module) is None:
            return (
                f"{name} is not in this environment ({sys.prefix}); PyTorch stands in for it: "
                "entry_point is to be a program of PyTorch"
            )
        return ""

    def _version(self) -> str:
        wanted = self._options["framework_version"]
        there = _version_of(self._module)
        if wanted and there and not there.startswith(str(wanted)):
            return f"{type(self).__name__} {there} of this environment runs, not framework_version {wanted}"
        return ""

    def _python(self) -> str:
        wanted = str(self._options["py_version"] or "py3")
        here = f"{sys.version_info.major}{sys.version_info.minor}"
        if wanted.startswith("py2"):
            raise NotHere(f"py_version: {wanted}: this Python is {sys.version.split()[0]}; use py3")
        return (
            "" if wanted in ("py3", f"py{here}") else f"Python {sys.version.split()[0]} runs, not py_version {wanted}"
        )


def _version_of(module: str) -> str:
    """Of the package of this name, or of the smaller one, without what is for GPUs; "": there is neither."""
    for name in (module, f"{module}-cpu"):
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            return importlib.metadata.version(name)
    return ""


# help() and notebooks show what fit() takes.
_fit: Callable[..., None] = EstimatorBase.fit
_fit.__signature__ = FIT.signature("self")  # type: ignore[attr-defined]
