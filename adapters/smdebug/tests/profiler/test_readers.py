"""Readers of system metrics and timelines."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
from pathlib import Path

import pytest
from folders import START_US, event, phase, put_system, put_timeline, sample

from smdebug.profiler import LocalAlgorithmMetricsReader, LocalSystemMetricsReader, S3SystemMetricsReader
from smdebug.profiler.utils import TimeUnits
from smdebug.trials import create_trial

FAR = 1 << 60

# What smdebug 1.0.34 itself finds there: events of all times.
RECORDED = {
    "merge_traces": 702,
    "model_timeline_traces": 109,
    "horovod_timeline_traces": 19,
    "tfprofiler_timeline_traces": 798,
    "test_traces": 4,
}


def test_values_of_a_time(profile: Path) -> None:
    reader = LocalSystemMetricsReader(str(profile))
    assert len(reader.get_events(0, FAR)) == 12
    start_s = START_US / 1e6
    (only,) = reader.get_events(start_s + 0.9, start_s + 1.1, TimeUnits.SECONDS, event_type="gpu")
    assert (only.name, only.dimension, only.value, only.node_id) == ("gpu0", "GPUUtilization", 20.0, "algo-1")
    assert reader.get_timestamp_of_first_available_file() == START_US // 60_000_000 * 60_000_000


def test_damaged_lines_are_left_out_and_said(profile: Path, log: pytest.LogCaptureFixture) -> None:
    path = put_system(profile, [sample("cpu", "cpu0", "CPUUtilization", 1, 0)])
    path.write_text(path.read_text() + '{"Type": "cpu"\n' + path.read_text() + '{"Type": "cpu", "Name": "a"}\n[[[[\n')
    assert len(LocalSystemMetricsReader(str(profile)).get_events(0, FAR)) == 2
    assert "3 damaged lines" in log.text


def test_events_of_a_time_and_of_steps(profile: Path) -> None:
    reader = LocalAlgorithmMetricsReader(str(profile))
    steps = [one for one in reader.get_events(0, FAR) if one.event_name == "Step:ModeKeys.TRAIN"]
    assert [one.start_time - START_US for one in steps] == [150_000, 1_150_000, 2_150_000]
    assert {one.duration for one in steps} == {600_000}
    assert {one.event_phase for one in steps} == {"Step:ModeKeys.TRAIN"}
    assert steps[0].node_id == "7-host" and steps[0].pid == 7
    within = reader.get_events(START_US + 1_000_000, START_US + 1_180_000)
    assert sorted(one.event_name for one in within) == ["DataLoaderIter::GetNext", "Step:ModeKeys.TRAIN"]
    names = [one.event_name for one in reader.get_events_by_step(1, 2)]
    assert names.count("Step:ModeKeys.TRAIN") == 1 and names.count("Forward-node") == 1
    assert reader.get_events_by_step(1, 9) == []
    assert reader.get_events(0, FAR, file_suffix_filter=["model_timeline.json"]) == []


def test_an_event_in_a_file_that_was_closed_later(profile: Path) -> None:
    later_us = 3_600_000_000
    put_timeline(profile, [phase(1, "A"), event(1, "long", 500_000, later_us)], later_us + 500_000)
    found = LocalAlgorithmMetricsReader(str(profile)).get_events(START_US + 600_000, START_US + 600_001)
    assert "long" in [one.event_name for one in found], "smdebug looks three minutes ahead"


def test_pairs_damage_and_files_that_are_still_written(tmp_path: Path, log: pytest.LogCaptureFixture) -> None:
    pairs = [
        phase(1, "tensor"),
        {"name": "outer", "pid": 1, "ph": "B", "ts": 0},
        {"name": "inner", "pid": 1, "ph": "B", "ts": 5},
        {"pid": 1, "ph": "E", "ts": 7},
        {"pid": 1, "ph": "E", "ts": 9},
    ]
    path = put_timeline(tmp_path, pairs, 9, "horovod_timeline")
    path.write_text(path.read_text() + ',\n{"name": "cut\n,{"ph": "X", "name": "wrong", "ts": "soon", "dur": 1}')
    events = LocalAlgorithmMetricsReader(str(tmp_path)).get_events(0, FAR)
    assert [(one.event_name, one.duration) for one in events] == [("inner", 2), ("outer", 9)]
    assert "2 damaged events" in log.text
    open_file = tmp_path / "framework" / "7-host_pythontimeline.json.tmp"
    open_file.write_text('[\n{"name": "now", "pid": 1, "ph": "X", "ts": 1, "dur": 1}')
    assert "now" in [one.event_name for one in LocalAlgorithmMetricsReader(str(tmp_path)).get_events(0, FAR)]


def test_traces_of_tensorflow_have_their_time_beside_them(tmp_path: Path) -> None:
    step = tmp_path / "framework" / "tensorflow" / "detailed_profiling" / "2020080513" / "000000003"
    trace = step / "plugins" / "profile" / "2020_08_05_13_37_44" / "host.trace.json.gz"
    trace.parent.mkdir(parents=True)
    (step / "151-algo-1_1596634664000000_1596634665000000.metadata").touch()
    content = {"traceEvents": [phase(49, "/host:CPU"), {**event(49, "MatMul", 5, 2), "tid": 7}, {}]}
    trace.write_bytes(gzip.compress(json.dumps(content).encode()))
    (only,) = LocalAlgorithmMetricsReader(str(tmp_path)).get_events(0, FAR)
    assert (only.event_phase, only.start_time, only.node_id) == ("/host:CPU", 1596634664000005, "algo-1-151")


@pytest.mark.parametrize("name", RECORDED)
def test_recorded_timelines(recorded: Path, name: str) -> None:
    events = LocalAlgorithmMetricsReader(str(recorded / name)).get_events(0, FAR)
    assert sum(one.phase == "X" for one in events) == RECORDED[name]


def test_recorded_system_metrics(recorded: Path) -> None:
    reader = LocalSystemMetricsReader(str(recorded / "test_traces"))
    assert len(reader.get_events(0, FAR)) == 64
    assert reader.get_current_time_range_for_event_query() == (1591748100000000, 1591748160000000)


def test_the_original_finds_the_same(recorded: Path, rivals_python: str) -> None:
    script = (
        "import json, logging, sys; logging.disable(50)\n"
        "from smdebug.profiler.algorithm_metrics_reader import LocalAlgorithmMetricsReader as Reader\n"
        "out = {}\n"
        "for name in sys.argv[2:]:\n"
        "    events = Reader(sys.argv[1] + '/' + name).get_events(0, 1 << 60)\n"
        "    out[name] = sorted([e.event_name, e.event_phase, e.start_time, e.duration] for e in events)\n"
        "print(json.dumps(out))"
    )
    names = ["merge_traces", "model_timeline_traces", "test_traces"]
    bare = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run([rivals_python, "-c", script, str(recorded), *names], capture_output=True, text=True, env=bare)
    assert done.returncode == 0, done.stderr
    original = json.loads(done.stdout.splitlines()[-1])
    for name in names:
        ours = [
            [one.event_name, one.event_phase, one.start_time, one.duration]
            for one in LocalAlgorithmMetricsReader(str(recorded / name)).get_events(0, FAR)
        ]
        assert sorted(ours) == original[name], name


def test_addresses_in_s3_are_folders(profile: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "buckets" / "mine" / "job"
    target.mkdir(parents=True)
    profile.rename(target / "profiler-output")
    monkeypatch.setenv("TRAINWARDEN_BUCKETS", str(tmp_path / "buckets"))
    assert len(S3SystemMetricsReader("s3://mine/job/profiler-output").get_events(0, FAR)) == 12
    assert len(S3SystemMetricsReader("s3://mine/job").get_events(0, FAR)) == 12, "the folder above is fine too"


def test_the_profile_of_a_trial(profile: Path) -> None:
    trial = create_trial(str(profile), profiler=True)
    assert trial.first_timestamp == START_US // 60_000_000 * 60_000_000
    assert len(trial.get_system_metrics(0, FAR)) == 12
    assert len(trial.get_framework_metrics(0, FAR)) == 9
