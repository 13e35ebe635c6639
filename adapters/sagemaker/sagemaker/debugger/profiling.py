"""How a training is profiled: what an estimator is told about it."""

from __future__ import annotations

import json
from enum import Enum
from typing import Any, ClassVar

from .._keywords import Keyword, Keywords, takes
from ..exceptions import NotHere


class PythonProfiler(Enum):
    """Which profiler of Python's SageMaker would use."""

    CPROFILE = "cProfile"
    PYINSTRUMENT = "Pyinstrument"


class cProfileTimer(Enum):  # noqa: N801
    """Which time it would count."""

    TOTAL_TIME = "total_time"
    CPU_TIME = "cpu_time"
    OFF_CPU_TIME = "off_cpu_time"
    DEFAULT = "default"


_LOCAL_PATH = "/opt/ml/output/profiler"
INTERVALS = (100, 200, 500, 1000, 5000, 60000)
_HOROVOD = "a timeline of Horovod's is read by `trainwarden import`; leave it out"
_IN_THE_RUN = "leave it out: the profile is in the job's run; `trainwarden export --to smdebug-profiler` writes files"
_WAITS = "leave it out: waits for data are in the phase data_wait of each step"
_SAMPLED = "leave it out: stacks are sampled, which counts wall time"
_STEPS = (
    Keyword("start_step", "the first step that is recorded; steps count from where each process begins"),
    Keyword("num_steps", "how many steps"),
    Keyword("start_unix_time", "when it begins, in seconds since 1970"),
    Keyword("duration", "for how many seconds"),
)
_STEP_NAMES = {
    "start_step": "StartStep",
    "num_steps": "NumSteps",
    "start_unix_time": "StartTimeInSecSinceEpoch",
    "duration": "DurationInSeconds",
}
DETAILED_PROFILING = Keywords(
    "DetailedProfilingConfig", [*_STEPS, Keyword("profile_default_steps", "fills what is not said of the steps with SageMaker's: step 5", default=False)]
)
DATALOADER_PROFILING = Keywords(
    "DataloaderProfilingConfig", [*_STEPS, Keyword("metrics_regex", _WAITS, default=".*", refused=True)]
)
PYTHON_PROFILING = Keywords(
    "PythonProfilingConfig",
    [
        *_STEPS,
        Keyword(
            "python_profiler",
            "either way stacks are sampled",
            default=PythonProfiler.CPROFILE,
            only=(PythonProfiler.CPROFILE, PythonProfiler.PYINSTRUMENT, "cProfile", "Pyinstrument"),
        ),
        Keyword("cprofile_timer", _SAMPLED, default=cProfileTimer.TOTAL_TIME, refused=True),
    ],
)
FRAMEWORK_PROFILE = Keywords(
    "FrameworkProfile",
    [
        Keyword("local_path", "is kept, and said to have no effect: the profile is in the run", default=_LOCAL_PATH),
        Keyword("file_max_size", _IN_THE_RUN, default=10485760, refused=True),
        Keyword("file_close_interval", _IN_THE_RUN, default=60, refused=True),
        Keyword("file_open_fail_threshold", _IN_THE_RUN, default=50, refused=True),
        Keyword("detailed_profiling_config", "a DetailedProfilingConfig"),
        Keyword("dataloader_profiling_config", "a DataloaderProfilingConfig"),
        Keyword("python_profiling_config", "a PythonProfilingConfig"),
        Keyword("horovod_profiling_config", _HOROVOD, refused=True),
        Keyword("smdataparallel_profiling_config", _HOROVOD, refused=True),
        *_STEPS,
    ],
)
PROFILER_CONFIG = Keywords(
    "ProfilerConfig",
    [
        Keyword("s3_output_path", "is kept; the profile is in the run, and a message says how it is written as files"),
        Keyword("system_monitor_interval_millis", "milliseconds between samples", default=500, only=INTERVALS),
        Keyword("framework_profile_params", "a FrameworkProfile"),
        Keyword("profile_params", "the library of SageMaker's that it is for is not here; leave it out", refused=True),
        Keyword("disable_profiler", "whether nothing is profiled", default=False, only=(True, False)),
    ],
)


class _StepsConfig:
    """What is profiled at which steps, or when."""

    keywords: ClassVar[Keywords]
    names: ClassVar[dict[str, str]] = {}
    default_steps: ClassVar[tuple[int, int]]  # the first and how many, where nothing is said

    def __init__(self, *positional: Any, **given: Any):
        self._options = self.keywords.take(positional, given)

    def request(self) -> str:
        """As a text of ProfilingParameters."""
        names = {**_STEP_NAMES, **self.names}
        given = {names[key]: value for key, value in self._options.items() if key in names and value is not None}
        by_time = "StartTimeInSecSinceEpoch" in given or "DurationInSeconds" in given
        says_nothing = "StartStep" not in given and "NumSteps" not in given
        if not by_time and (says_nothing or self._is_default()):
            given = {"StartStep": self.default_steps[0], "NumSteps": self.default_steps[1], **given}
        return json.dumps({name: getattr(value, "value", value) for name, value in given.items()})

    def _is_default(self) -> bool:
        return bool(self._options.get("profile_default_steps"))


@takes(DETAILED_PROFILING)
class DetailedProfilingConfig(_StepsConfig):
    """Operators, at some steps."""

    keywords = DETAILED_PROFILING
    default_steps = 5, 1


@takes(DATALOADER_PROFILING)
class DataloaderProfilingConfig(_StepsConfig):
    """How data are loaded, at some steps."""

    keywords = DATALOADER_PROFILING
    default_steps = 7, 1


@takes(PYTHON_PROFILING)
class PythonProfilingConfig(_StepsConfig):
    """Functions of Python, at some steps."""

    keywords = PYTHON_PROFILING
    names: ClassVar[dict[str, str]] = {"python_profiler": "ProfilerName"}
    default_steps = 9, 3


@takes(FRAMEWORK_PROFILE)
class FrameworkProfile:
    """Which steps of a training are profiled, and what of them. Without one of the configurations, all of them."""

    def __init__(self, *positional: Any, **given: Any):
        options = FRAMEWORK_PROFILE.take(positional, given)
        self.profiling_parameters: dict[str, str] = {"LocalPath": str(options["local_path"])}
        steps = {name: options[name] for name in _STEP_NAMES}
        kinds: dict[str, type[_StepsConfig]] = {
            "detailed_profiling_config": DetailedProfilingConfig,
            "dataloader_profiling_config": DataloaderProfilingConfig,
            "python_profiling_config": PythonProfilingConfig,
        }
        own = {name: options[name] for name in kinds if options[name] is not None}
        for name, config in own.items():
            if not isinstance(config, kinds[name]):
                raise ValueError(f"FrameworkProfile: {name}: expected {kinds[name].__name__}(...), found {config!r}")
        chosen = own or {name: kind(**steps) for name, kind in kinds.items()}
        for name, config in chosen.items():
            self.profiling_parameters[kinds[name].__name__] = config.request()

    def windows(self) -> list[list[str]]:
        """The steps that are to be recorded, as words for `trainwarden profile`, each stretch once.

        Raises:
            NotHere: a time, which only a job's own configuration takes.
        """
        found: list[list[str]] = []
        for name in ("DetailedProfilingConfig", "PythonProfilingConfig"):
            if name not in self.profiling_parameters:
                continue
            steps = json.loads(self.profiling_parameters[name])
            if "NumSteps" not in steps and "StartStep" not in steps:
                raise NotHere(f"{name}: start_unix_time, duration: give steps for a job that runs already")
            words = ["--steps", str(steps.get("NumSteps", 1))]
            if "StartStep" in steps:
                words += ["--first-step", str(steps["StartStep"])]
            if words not in found:
                found.append(words)
        return found


@takes(PROFILER_CONFIG)
class ProfilerConfig:
    """How a training is profiled."""

    def __init__(self, *positional: Any, **given: Any):
        self._options = PROFILER_CONFIG.take(positional, given)
        profile = self._options["framework_profile_params"]
        if profile is not None and not isinstance(profile, FrameworkProfile):
            raise ValueError(f"ProfilerConfig: framework_profile_params: expected FrameworkProfile(...), found {profile!r}")

    def request(self) -> dict[str, Any]:
        """As ProfilerConfig of SageMaker's API."""
        profile = self._options["framework_profile_params"]
        fields = {
            "S3OutputPath": self._options["s3_output_path"],
            "ProfilingIntervalInMilliseconds": self._options["system_monitor_interval_millis"],
            "ProfilingParameters": profile.profiling_parameters if profile else None,
            "DisableProfiler": self._options["disable_profiler"] or None,
        }
        return {name: value for name, value in fields.items() if value is not None}
