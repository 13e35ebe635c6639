"""The names of the profiler: what an estimator is told about profiling. There is no profiler yet: it is kept with the job,
where it is found once there is one, and a message says that nothing is profiled."""

from __future__ import annotations

import json
from typing import Any, ClassVar

from .._keywords import Keyword, Keywords, takes

NO_PROFILER = (
    "Trainwarden has no profiler yet: this is kept with the job, and nothing is profiled. Times of steps and phases are "
    "captured without it (`trainwarden show RUN`, `trainwarden top RUN`)"
)

_INTERVALS = (100, 200, 500, 1000, 5000, 60000)
_HOROVOD = "there is no Horovod and no library of SageMaker's in a job; leave it out"
_STEPS = (
    Keyword("start_step", "the first step that is profiled"),
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
DETAILED_PROFILING = Keywords("DetailedProfilingConfig", [*_STEPS])
DATALOADER_PROFILING = Keywords(
    "DataloaderProfilingConfig", [*_STEPS, Keyword("metrics_regex", "of which metrics", default=".*")]
)
PYTHON_PROFILING = Keywords(
    "PythonProfilingConfig",
    [
        *_STEPS,
        Keyword("python_profiler", "cProfile or Pyinstrument", default="cProfile", only=("cProfile", "Pyinstrument")),
        Keyword("cprofile_timer", "total_time, cpu_time or off_cpu_time"),
    ],
)
FRAMEWORK_PROFILE = Keywords(
    "FrameworkProfile",
    [
        Keyword("local_path", "where the program writes", default="/opt/ml/output/profiler"),
        Keyword("file_max_size", "bytes of a file", default=10485760),
        Keyword("file_close_interval", "seconds that a file is open", default=60),
        Keyword("file_open_fail_threshold", "how often a file may fail to open", default=50),
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
        Keyword("s3_output_path", "where profiles are to go"),
        Keyword("system_monitor_interval_millis", "milliseconds between samples", default=500, only=_INTERVALS),
        Keyword("framework_profile_params", "a FrameworkProfile"),
        Keyword("disable_profiler", "whether nothing is profiled", only=(True, False)),
    ],
)


class _StepsConfig:
    """What is profiled at which steps, or when."""

    keywords: ClassVar[Keywords]
    names: ClassVar[dict[str, str]] = {}

    def __init__(self, *positional: Any, **given: Any):
        self._options = self.keywords.take(positional, given)

    def request(self) -> str:
        """As a text of ProfilingParameters."""
        names = {**_STEP_NAMES, **self.names}
        return json.dumps({names[key]: value for key, value in self._options.items() if value is not None})


@takes(DETAILED_PROFILING)
class DetailedProfilingConfig(_StepsConfig):
    """Operators, at some steps."""

    keywords = DETAILED_PROFILING


@takes(DATALOADER_PROFILING)
class DataloaderProfilingConfig(_StepsConfig):
    """How data are loaded, at some steps."""

    keywords = DATALOADER_PROFILING
    names: ClassVar[dict[str, str]] = {"metrics_regex": "MetricsRegex"}


@takes(PYTHON_PROFILING)
class PythonProfilingConfig(_StepsConfig):
    """Functions of Python, at some steps."""

    keywords = PYTHON_PROFILING
    names: ClassVar[dict[str, str]] = {"python_profiler": "ProfilerName", "cprofile_timer": "cProfileTimer"}


@takes(FRAMEWORK_PROFILE)
class FrameworkProfile:
    """Which steps of a training are profiled, and what of them. Without one of the configurations, all of them."""

    def __init__(self, *positional: Any, **given: Any):
        options = FRAMEWORK_PROFILE.take(positional, given)
        self.profiling_parameters: dict[str, str] = {
            "LocalPath": str(options["local_path"]),
            "RotateMaxFileSizeInBytes": str(options["file_max_size"]),
            "RotateFileCloseIntervalInSeconds": str(options["file_close_interval"]),
            "FileOpenFailThreshold": str(options["file_open_fail_threshold"]),
        }
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
            "DisableProfiler": self._options["disable_profiler"],
        }
        return {name: value for name, value in fields.items() if value is not None}
