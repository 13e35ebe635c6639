"""PandasFrame: a profile as frames of Pandas."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ....core.utils import match_inc
from ...algorithm_metrics_reader import LocalAlgorithmMetricsReader
from ...system_metrics_reader import LocalSystemMetricsReader
from ...trace_event_file_parser import TraceEvent
from ...utils import convert_utc_datetime_to_microseconds, us_since_epoch_to_human_readable_time
from ._pandas import pandas

_FAR_US = 1 << 62
_SYSTEM = ["timestamp", "timestamp_us", "value", "system_metric", "dimension", "nodeID", "type"]
_FRAMEWORK = [
    "start_time",
    "end_time",
    "start_time_us",
    "end_time_us",
    "tid",
    "pid",
    "framework_metric",
    "step",
    "bytes",
    "process",
    "nodeID",
]
_LOADERS = [
    "start_time",
    "end_time",
    "start_time_us",
    "end_time_us",
    "duration_us",
    "pid",
    "framework_metric",
    "step",
    "worker_id",
    "num_workers",
    "pin_memory",
    "process",
    "node_id",
]


def _arg(event: TraceEvent, name: str, otherwise: Any) -> Any:
    return (event.event_args or {}).get(name, otherwise)


def _label(event: TraceEvent) -> Any:
    return _arg(event, "layer_name", None) or _arg(event, "name", None) or event.event_name


class PandasFrame:
    """Times in `..._us` are microseconds since the first file of system metrics; where a profile has none of these, since
    the first event.

    Args:
        path: a folder of SageMaker's profiler, a run of Trainwarden's, or an address that TRAINWARDEN_BUCKETS has here.
        use_in_memory_cache: keeps the events of files that were read.
        scan_interval: taken for programs that give it; files are read one by one anyway.
    """

    def __init__(self, path: str, use_in_memory_cache: bool = False, scan_interval: int = 5_000_000_000):
        self.path = path
        self.interval = scan_interval
        self.system_metrics_reader = LocalSystemMetricsReader(path)
        self.framework_metrics_reader = LocalAlgorithmMetricsReader(path, use_in_memory_cache=use_in_memory_cache)
        self.start_time = self.system_metrics_reader.get_timestamp_of_first_available_file()
        if self.start_time == 0:
            starts = [event.start_time for event in self.framework_metrics_reader.get_events(0, _FAR_US)]
            self.start_time = int(min(starts, default=0))
        self._seen: tuple[list[list[Any]], list[list[Any]]] = ([], [])  # by cache_metrics

    def get_all_system_metrics(self, selected_system_metrics: Sequence[str] = ()) -> Any:
        """A row a value; only metrics of these names, when there are any."""
        return self.get_profiler_data_by_time(
            0, _FAR_US, selected_system_metrics=selected_system_metrics, get_framework_metrics=False
        )[0]

    def get_all_framework_metrics(self, selected_framework_metrics: Sequence[str] = ()) -> Any:
        """A row an event; only events or phases of these names, when there are any.

        smdebug leaves events out that began before its first file of system metrics, and those after its last timeline.
        """
        return self.get_profiler_data_by_time(
            0, _FAR_US, selected_framework_metrics=selected_framework_metrics, get_system_metrics=False
        )[1]

    def get_profiler_data_by_time(
        self,
        start_time_us: int,
        end_time_us: int,
        cache_metrics: bool = False,
        selected_framework_metrics: Sequence[str] = (),
        selected_system_metrics: Sequence[str] = (),
        get_framework_metrics: bool = True,
        get_system_metrics: bool = True,
    ) -> tuple[Any, Any]:
        """System metrics and framework metrics between these times, in microseconds since 1970. With cache_metrics all
        that was asked for so far."""
        system = self._system_rows(start_time_us, end_time_us, selected_system_metrics) if get_system_metrics else []
        framework: list[list[Any]] = []
        if get_framework_metrics:
            framework = self._framework_rows(start_time_us, end_time_us, selected_framework_metrics)
        if cache_metrics:
            self._seen[0].extend(system)
            self._seen[1].extend(framework)
            system, framework = list(self._seen[0]), list(self._seen[1])
        return self._frame(system, _SYSTEM), self._frame(framework, _FRAMEWORK)

    def get_profiler_data_by_step(self, start_step: int, end_step: int, cache_metrics: bool = False) -> tuple[Any, Any]:
        """The events of these steps, both included, and what was sampled meanwhile."""
        system, framework = self.get_profiler_data_by_time(0, _FAR_US, cache_metrics)
        framework = framework[framework["step"].between(start_step, end_step)]
        start_us, end_us = framework["start_time_us"].min(), framework["end_time_us"].max()
        return system[system["timestamp_us"].between(start_us, end_us)], framework

    def get_framework_metrics_by_timesteps(
        self, timestep_list: Sequence[Any] = (), selected_framework_metrics: Sequence[str] = ()
    ) -> tuple[dict[str, float], dict[str, float], dict[str, float]]:
        """What the framework did at these times ("2020-05-19T23:29:48:000000", UTC): shares of the longest by phase,
        microseconds by event, and microseconds by training phase. An event counts for each of the times that it has."""
        times = sorted(self.convert_datetime_to_timestamp(one) for one in timestep_list)
        by_phase: dict[str, float] = {}
        by_name: dict[str, float] = {}
        if times:
            for event in self._chosen(times[0], times[-1], selected_framework_metrics):
                count = sum(event.start_time < time < event.end_time for time in times)
                if count:
                    _add(by_phase, event.event_phase, count * event.duration)
                    if "Step" not in event.event_name:
                        _add(by_name, event.event_name, count * event.duration)
        steps = {phase: value for phase, value in by_phase.items() if "Step" in phase}
        others = {phase: value for phase, value in by_phase.items() if "Step" not in phase}
        return _of_largest(others), by_name, steps

    def get_framework_metrics_by_begin_and_end_timesteps(
        self,
        begin_timestep_list: Sequence[Any],
        end_timestep_list: Sequence[Any],
        selected_framework_metrics: Sequence[str] = (),
    ) -> tuple[dict[str, float], dict[str, float]]:
        """What the framework did in these stretches of time, by phase and by event, as shares of the longest."""
        begins = [self.convert_datetime_to_timestamp(one) for one in begin_timestep_list]
        ends = [self.convert_datetime_to_timestamp(one) for one in end_timestep_list]
        by_phase: dict[str, float] = {}
        by_name: dict[str, float] = {}
        if begins and ends:
            for event in self._chosen(min(begins), max(ends), selected_framework_metrics):
                count = sum(event.end_time >= begin and event.start_time <= end for begin, end in zip(begins, ends))
                if count and "Step" not in event.event_name:
                    _add(by_phase, event.event_phase, count * event.duration)
                    _add(by_name, event.event_name, count * event.duration)
        return _of_largest(by_phase), _of_largest(by_name)

    def get_all_dataloader_metrics(self, selected_framework_metrics: Sequence[str] = ()) -> Any:
        """A row for each event of data loaders: of those whose names or phases have one of these patterns."""
        rows = []
        for event in self.framework_metrics_reader.get_events(0, _FAR_US):
            wanted = list(selected_framework_metrics)
            if wanted and not (match_inc(event.event_name, wanted) or match_inc(event.event_phase, wanted)):
                continue
            pin = _arg(event, "pin_memory", None)
            rows.append(
                [
                    *self._times(event),
                    event.duration,
                    event.pid,
                    _label(event),
                    int(_arg(event, "step_num", -1)),
                    _arg(event, "worker_id", -1),
                    _arg(event, "num_workers", -1),
                    "NA" if pin is None else str(pin is True),
                    event.event_phase,
                    event.node_id,
                ]
            )
        return self._frame(rows, _LOADERS)

    def convert_datetime_to_timestamp(self, timestamp: Any) -> int:
        """Microseconds since 1970 of a time in UTC."""
        time = pandas().to_datetime(timestamp, format="%Y-%m-%dT%H:%M:%S:%f", utc=True)
        return convert_utc_datetime_to_microseconds(time)

    def _chosen(self, start_us: int, end_us: int, names: Sequence[str]) -> Iterable[TraceEvent]:
        for event in self.framework_metrics_reader.get_events(start_us, end_us):
            if not names or event.event_name in names or event.event_phase in names:
                yield event

    def _times(self, event: TraceEvent) -> list[Any]:
        return [
            us_since_epoch_to_human_readable_time(event.start_time),
            us_since_epoch_to_human_readable_time(event.end_time),
            event.start_time - self.start_time,
            event.end_time - self.start_time,
        ]

    def _system_rows(self, start_us: int, end_us: int, names: Sequence[str]) -> list[list[Any]]:
        rows = []
        for event in self.system_metrics_reader.get_events(start_us, end_us):
            if names and event.name not in names:
                continue
            time_us = int(event.timestamp * 1e6)
            shown = us_since_epoch_to_human_readable_time(time_us)
            rows.append(
                [
                    shown,
                    time_us - self.start_time,
                    event.value,
                    event.name,
                    event.dimension,
                    event.node_id,
                    event.type,
                ]
            )
        return rows

    def _framework_rows(self, start_us: int, end_us: int, names: Sequence[str]) -> list[list[Any]]:
        rows = []
        for event in self._chosen(start_us, end_us, names):
            own = [event.tid, event.pid, _label(event), int(_arg(event, "step_num", -1))]
            rows.append(
                [*self._times(event), *own, _arg(event, "bytes_fetched", -1), event.event_phase, event.node_id]
            )
        return rows

    @staticmethod
    def _frame(rows: list[list[Any]], columns: list[str]) -> Any:
        frame = pandas().DataFrame(rows, columns=columns)
        return frame.drop_duplicates()


def _add(sums: dict[str, float], name: str, value: float) -> None:
    sums[name] = sums.get(name, 0) + value


def _of_largest(sums: dict[str, float]) -> dict[str, float]:
    largest = max(sums.values(), default=0)
    return {name: value / largest for name, value in sums.items()} if largest > 0 else sums
