"""Frames, statistics, merged timelines and pictures."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from folders import START_US

from smdebug.exceptions import SMDebugNotImplementedError, SMDebugValueError
from smdebug.profiler import LocalAlgorithmMetricsReader, LocalSystemMetricsReader
from smdebug.profiler.analysis.notebook_utils.heatmap import Heatmap
from smdebug.profiler.analysis.notebook_utils.metrics_histogram import MetricsHistogram
from smdebug.profiler.analysis.notebook_utils.step_histogram import StepHistogram
from smdebug.profiler.analysis.notebook_utils.step_timeline_chart import StepTimelineChart
from smdebug.profiler.analysis.notebook_utils.timeline_charts import TimelineCharts
from smdebug.profiler.analysis.python_profile_analysis import cProfileAnalysis
from smdebug.profiler.analysis.utils.merge_timelines import MergedTimeline, MergeUnit
from smdebug.profiler.analysis.utils.pandas_data_analysis import PandasFrameAnalysis, Resource, StatsBy
from smdebug.profiler.analysis.utils.profiler_data_to_pandas import PandasFrame

FAR = 1 << 60


@pytest.fixture
def frame(profile: Path) -> PandasFrame:
    pytest.importorskip("pandas", reason="frames need pandas")
    return PandasFrame(str(profile))


@pytest.fixture
def analysis(frame: PandasFrame) -> PandasFrameAnalysis:
    return PandasFrameAnalysis(frame.get_all_system_metrics(), frame.get_all_framework_metrics())


def test_frames(frame: PandasFrame) -> None:
    system, framework = frame.get_all_system_metrics(), frame.get_all_framework_metrics()
    assert list(system.columns) == [
        "timestamp", "timestamp_us", "value", "system_metric", "dimension", "nodeID", "type",
    ]  # fmt: skip
    assert len(system) == 12 and len(framework) == 9
    assert system["timestamp_us"].min() == START_US - frame.start_time
    assert set(framework["process"]) == {"Step:ModeKeys.TRAIN", "Forward-node", "DataLoaderIter"}
    assert len(frame.get_all_system_metrics(["gpu0"])) == 4
    assert set(frame.get_all_framework_metrics(["Forward-node"])["step"]) == {0, 1, 2}
    sampled, steps = frame.get_profiler_data_by_step(1, 1)
    assert set(steps["step"]) == {1} and sampled.empty
    assert len(frame.get_all_dataloader_metrics([".*DataLoaderIter::GetNext"])) == 3


def test_what_the_framework_did_at_a_time(frame: PandasFrame) -> None:
    shares, names, steps = frame.get_framework_metrics_by_timesteps(["2020-07-13T17:50:05:700000"])
    assert shares == {"Forward-node": 1.0} and names == {"Forward-node": 200_000}
    assert steps == {"Step:ModeKeys.TRAIN": 600_000}
    shares, names = frame.get_framework_metrics_by_begin_and_end_timesteps(
        ["2020-07-13T17:50:05:425850"], ["2020-07-13T17:50:06:425850"]
    )
    assert shares == {"DataLoaderIter": 0.5, "Forward-node": 1.0}


def test_statistics_of_steps(analysis: PandasFrameAnalysis) -> None:
    (row,) = analysis.get_step_statistics().to_dict("records")
    assert row["training_phase"] == "Step:ModeKeys.TRAIN"
    assert (row["duration_mean_us"], row["duration_p99_us"]) == (600_000, 600_000)
    by_process = analysis.get_step_statistics(by=StatsBy.PROCESS).set_index("process")
    assert by_process.loc["Forward-node", "duration_p50_us"] == 200_000
    with pytest.raises(SMDebugValueError, match="expected StatsBy"):
        analysis.get_step_statistics(by="process")  # type: ignore[arg-type]


def test_use_of_resources(analysis: PandasFrameAnalysis) -> None:
    usage = analysis.get_utilization_stats().set_index("Resource")
    assert list(usage.index) == ["cpu", "gpu"]
    assert (usage.loc["gpu", "utilization_max"], usage.loc["cpu", "utilization_min"]) == (95, 0)
    phases = analysis.get_utilization_stats(resource=Resource.GPU, by=StatsBy.TRAINING_PHASE)
    assert "Before Step:ModeKeys.TRAIN" in set(phases["Training_phase"])
    ranges = analysis.get_device_usage_stats(Resource.GPU)
    assert ranges[(90.0, 100.0)].tolist() == [1] and ranges[(10.0, 90.0)].tolist() == [3]
    with pytest.raises(SMDebugValueError, match="pairs"):
        analysis.get_device_usage_stats(Resource.GPU, [])


def test_the_parts_of_a_job(analysis: PandasFrameAnalysis) -> None:
    job = analysis.get_job_statistics()
    assert (job["initialization"], job["training_loop_duration"], job["job_duration"]) == (50_000 + 100_000, 2_600_000, 3_000_000)
    assert job["finalization"] == 250_000
    intervals = analysis.get_training_phase_intervals()
    assert list(intervals["phase"])[:2] == ["Before Step:ModeKeys.TRAIN", "Step:ModeKeys.TRAIN"]
    assert len(intervals) == 7
    with pytest.raises(SMDebugValueError, match="expected one of"):
        analysis.get_training_phase_intervals("Step:ModeKeys.EVAL")


def test_frames_without_pandas_say_what_to_install(profile: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(Exception, match="install it"):
        PandasFrame(str(profile)).get_all_system_metrics()


def test_a_merged_timeline(profile: Path, tmp_path: Path) -> None:
    merged = MergedTimeline(str(profile), output_directory=str(tmp_path / "out"))
    rows = json.loads(Path(merged.merge_timeline(0, FAR)).read_text())
    assert sum(row["name"] == "Step:ModeKeys.TRAIN" for row in rows) == 3
    assert sum(row["name"] == "LowGpu" for row in rows) == 3, "of four values of the GPU one is above 85 %"
    pids = {row["args"]["name"]: row["pid"] for row in rows if row["name"] == "process_name"}
    assert pids["Step:ModeKeys.TRAIN, 7-host"] == 1 and pids["Forward-node, 7-host"] == 10_000
    of_step = json.loads(Path(merged.merge_timeline(1, 2, MergeUnit.STEP, {})).read_text())
    assert sum(row["name"] == "Step:ModeKeys.TRAIN" for row in of_step) == 1


def test_pictures(profile: Path, tmp_path: Path) -> None:
    system, framework = LocalSystemMetricsReader(str(profile)), LocalAlgorithmMetricsReader(str(profile))
    histogram = MetricsHistogram(system)
    picture = histogram.plot(select_dimensions=["CPU"], select_events=["total"])
    assert len(picture.svgs) == 1 and histogram.system_metrics["CPUUtilization-nodeid:algo-1"]["total"] == [25, 30, 35, 40]
    steps = StepHistogram(framework)
    assert len(steps.plot().svgs) == 2
    assert steps.step_metrics["Step:ModeKeys.TRAIN-nodeid:7-host"] == [0.6, 0.6, 0.6]
    chart = StepTimelineChart(framework)
    assert [y for _, y in chart.steps["Step:ModeKeys.TRAIN-nodeid:7-host"]] == [600, 600, 600]
    heat = Heatmap(system)
    assert list(heat.rows) == ["algo-1 CPUUtilization cpu0", "algo-1 CPUUtilization cpu1", "algo-1 GPUUtilization gpu0"]
    charts = TimelineCharts(system, framework)
    assert charts.target is not None and len(charts.target.svgs) == 3
    during = charts.find_time_annotations([(START_US, START_US + 1_000_000)])
    assert during["Forward-node"] == 200_000
    page = tmp_path / "page.html"
    charts.target.save(str(page))
    assert page.read_text().count("<svg") == 3 and "http" not in page.read_text().replace("http://www.w3.org", "")


def test_python_profiles_are_named_and_not_read(profile: Path) -> None:
    with pytest.raises(SMDebugNotImplementedError, match="speedscope"):
        cProfileAnalysis(str(profile))
