"""PandasFrameAnalysis: statistics of a profile's frames."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any, Optional, Union

from ....exceptions import SMDebugValueError
from ._pandas import pandas

_PERCENTILES = [0.5, 0.95, 0.99]
_STATISTICS = ["mean", "min", "max", "50%", "95%", "99%"]
_NAMES = ["mean", "min", "max", "p50", "p95", "p99"]
_IS_STEP = "Step:ModeKeys"


class StatsBy(Enum):
    """By what statistics are grouped."""

    TRAINING_PHASE = "training_phase"
    FRAMEWORK_METRICS = "framework_metric"
    PROCESS = "process"


class Resource(Enum):
    """What a system metric is of."""

    CPU = "cpu"
    GPU = "gpu"
    IO = "i/o"
    NETWORK = "network"
    MEMORY = "memory"


class PandasFrameAnalysis:
    """The frames are those of PandasFrame; they are copied, and stay as they are.

    Times are microseconds. Events that belong to no step keep -1 (smdebug ends with an IndexError there).
    """

    def __init__(self, system_df: Any, framework_df: Any):
        self.sys_metrics_df = system_df.copy()
        frame = framework_df.copy()
        frame["duration_us"] = frame["end_time_us"] - frame["start_time_us"]
        self.framework_metrics_df = frame
        self._give_steps()

    def _steps(self) -> Any:
        frame = self.framework_metrics_df
        return frame[frame["framework_metric"].astype(str).str.contains(_IS_STEP)]

    def _give_steps(self) -> None:
        """Events without a step belong to that which they lie in."""
        steps = self._steps()
        steps = steps[steps["step"] != -1]
        spans = steps.groupby("step").agg({"start_time_us": "min", "end_time_us": "max"}).reset_index()
        self.step_time_df = spans
        spans = spans.sort_values("start_time_us")
        starts = spans["start_time_us"].to_numpy()
        ends = spans["end_time_us"].to_numpy()
        numbers = spans["step"].to_numpy()
        frame = self.framework_metrics_df
        without = frame["step"] == -1
        at = starts.searchsorted(frame.loc[without, "start_time_us"].to_numpy(), side="right") - 1
        found = [
            int(numbers[i]) if i >= 0 and ends[i] >= end else -1
            for i, end in zip(at, frame.loc[without, "end_time_us"])
        ]
        frame.loc[without, "step"] = found

    def get_job_statistics(self) -> dict[str, Any]:
        """When the job and its training loop began and ended, and how long its parts took."""
        steps = self._steps().sort_values("start_time_us")
        if steps.empty or self.sys_metrics_df.empty:
            raise SMDebugValueError("statistics of a job need steps and system metrics; the frames have none")
        first_us, last_us = self.sys_metrics_df["timestamp_us"].min(), self.sys_metrics_df["timestamp_us"].max()
        loop_us = steps["start_time_us"].min(), self.framework_metrics_df["end_time_us"].max()
        parts = {
            "initialization": loop_us[0] - first_us,
            "training_loop": loop_us[1] - loop_us[0],
            "finalization": last_us - loop_us[1],
        }
        whole = max(last_us - first_us, 1)
        return {
            "start_time": self.sys_metrics_df["timestamp"].min(),
            "end_time": self.sys_metrics_df["timestamp"].max(),
            "job_duration": last_us - first_us,
            "training_loop_start": steps["start_time"].iloc[0],
            "training_loop_end": self.framework_metrics_df["end_time"].max(),
            "training_loop_duration": parts["training_loop"],
            "initialization": parts["initialization"],
            "finalization": parts["finalization"],
            **{f"{name}_%": 100 * value / whole for name, value in parts.items()},
        }

    def get_step_statistics(self, by: StatsBy = StatsBy.TRAINING_PHASE) -> Any:
        """Durations in a step, over all steps: mean, min, max, p50, p95 and p99."""
        if not isinstance(by, StatsBy):
            raise SMDebugValueError(f"by: expected StatsBy, found {by!r}")
        is_phase = by is StatsBy.TRAINING_PHASE
        frame = self._steps() if is_phase else self.framework_metrics_df
        column = StatsBy.FRAMEWORK_METRICS.value if is_phase else by.value
        spans = frame.groupby(["step", column]).agg({"start_time_us": "min", "end_time_us": "max"}).reset_index()
        spans["duration_us"] = spans["end_time_us"] - spans["start_time_us"]
        described = spans.groupby(column)["duration_us"].describe(percentiles=_PERCENTILES)[_STATISTICS].reset_index()
        described.columns = [by.value, *(f"duration_{name}_us" for name in _NAMES)]
        return described

    def get_utilization_stats(
        self,
        resource: Union[Resource, Sequence[Resource], None] = None,
        by: Optional[StatsBy] = None,
        phase: Union[str, Sequence[str], None] = None,
    ) -> Any:
        """How busy resources were, by node; with by=StatsBy.TRAINING_PHASE in each training phase."""
        pd = pandas()
        frame, groups = self.sys_metrics_df, ["nodeID"]
        if by is StatsBy.TRAINING_PHASE:
            frame, groups = self._with_phases(phase), ["Training_phase", "nodeID"]
        elif by is not None:
            raise SMDebugValueError(f"by: expected StatsBy.TRAINING_PHASE or None, found {by!r}")
        parts = []
        for one in _resources(resource, list(Resource)):
            rows = frame[frame["type"].astype(str).str.contains(one.value, regex=False)]
            if rows.empty:
                continue
            described = rows.groupby(groups)["value"].describe(percentiles=_PERCENTILES)[_STATISTICS].reset_index()
            described.insert(0, "Resource", one.value)
            parts.append(described)
        columns = ["Resource", *groups, *(f"utilization_{name}" for name in _NAMES)]
        if not parts:
            return pd.DataFrame(columns=columns)
        found = pd.concat(parts).reset_index(drop=True)
        found.columns = columns
        return found

    def _with_phases(self, phase: Union[str, Sequence[str], None]) -> Any:
        frame = self.sys_metrics_df.copy()
        frame["Training_phase"] = None
        for row in self.get_training_phase_intervals(phase).itertuples():
            frame.loc[frame["timestamp_us"].between(row.start_time_us, row.end_time_us), "Training_phase"] = row.phase
        return frame[frame["Training_phase"].notna()]

    def get_device_usage_stats(
        self,
        device: Union[Resource, Sequence[Resource], None] = None,
        utilization_ranges: Optional[Sequence[tuple[float, float]]] = None,
    ) -> Any:
        """How many values of a device lie in each range, by node. The first range that has a value counts it."""
        ranges = [(90.0, 100.0), (10.0, 90.0), (0.0, 10.0)] if utilization_ranges is None else list(utilization_ranges)
        if not ranges or any(len(one) != 2 for one in ranges):
            raise SMDebugValueError(f"utilization_ranges: expected pairs of a start and an end, found {ranges!r}")
        wanted = [one.value for one in _resources(device, [Resource.CPU, Resource.GPU])]
        frame = self.sys_metrics_df[self.sys_metrics_df["type"].isin(wanted)].copy()
        frame["ranges"] = [next((r for r in ranges if r[0] <= value <= r[1]), None) for value in frame["value"]]
        frame = frame[frame["ranges"].notna()]
        counted = frame.groupby(["type", "nodeID", "ranges"]).size().unstack("ranges").fillna(0)
        return counted.reset_index()

    def get_training_phase_intervals(self, phase: Union[str, Sequence[str], None] = None) -> Any:
        """When each training phase went on, and what was before, between and after; of several phases neighbours of the
        same are one."""
        pd = pandas()
        there = [one for one in self.framework_metrics_df["process"].unique() if _IS_STEP in str(one)]
        wanted = there if phase is None else [phase] if isinstance(phase, str) else list(phase)
        wanted = [one for one in wanted if one in there]
        if not wanted:
            raise SMDebugValueError(f"phase: expected one of {there}, found {phase!r}")
        frame = self.framework_metrics_df
        steps = frame[frame["process"].isin(wanted)].sort_values("start_time_us")
        rows: list[dict[str, Any]] = []
        for step in steps.itertuples():
            if len(wanted) > 1 and rows and rows[-1]["phase"] == step.process:
                rows[-1]["end_time_us"] = max(rows[-1]["end_time_us"], step.end_time_us)
            else:
                rows.append(
                    {"start_time_us": step.start_time_us, "end_time_us": step.end_time_us, "phase": step.process}
                )
        return pd.DataFrame(_with_gaps(rows, self.sys_metrics_df["timestamp_us"]))

    def get_jobs_stats(self) -> dict[str, Any]:
        return self.get_job_statistics()


def _with_gaps(rows: list[dict[str, Any]], times_us: Any) -> list[dict[str, Any]]:
    named = []
    if not times_us.empty:
        before = {"start_time_us": times_us.min(), "end_time_us": rows[0]["start_time_us"] - 1}
        named.append({**before, "phase": "Before " + rows[0]["phase"]})
    for row, following in zip(rows, [*rows[1:], None]):
        named.append(row)
        if following is not None:
            gap = {"start_time_us": row["end_time_us"] + 1, "end_time_us": following["start_time_us"] - 1}
            both = sorted([row["phase"], following["phase"]])
            named.append({**gap, "phase": "Between " + " and ".join(both)})
    if not times_us.empty:
        after = {"start_time_us": rows[-1]["end_time_us"] + 1, "end_time_us": times_us.max()}
        named.append({**after, "phase": "After " + rows[-1]["phase"]})
    return named


def _resources(given: Union[Resource, Sequence[Resource], None], otherwise: list[Resource]) -> list[Resource]:
    if given is None:
        return otherwise
    wanted = [given] if isinstance(given, Resource) else list(given)
    for one in wanted:
        if not isinstance(one, Resource):
            raise SMDebugValueError(f"resource: expected Resource.CPU, GPU, IO, NETWORK or MEMORY, found {one!r}")
    return wanted
