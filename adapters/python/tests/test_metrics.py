"""What a program printed, as metrics of its run: arrays, and TrainingJobAnalytics' frame."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import trainwarden as tw

PRINTS = "print('step 3 loss 4.0'); print('step 4 loss nan'); print('acc 0.5')"
DEFINITIONS = r"""
[[metric]]
name = "train:loss"
regex = 'step (?<step>\d+) loss (\S+)'
[[metric]]
name = "acc"
regex = 'acc (\S+)'
"""


@pytest.fixture
def printed(tmp_path: Path) -> Path:
    (tmp_path / "metrics.toml").write_text(DEFINITIONS)
    options = ["--runs", "runs", "--name", "printed", "--log", "out.log", "--metrics", "metrics.toml", "--attach", "off"]
    program = Path(sys.executable).parent / "trainwarden"
    command = [str(program), "run", *options, "--", sys.executable, "-c", PRINTS]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    return tmp_path / "runs" / "printed"


def test_samples_are_arrays(printed: Path) -> None:
    trial = tw.open(printed)
    assert trial.workers == [] and trial.state is tw.RunState.COMPLETED
    acc, loss = (metric for metric in trial.metrics() if metric.worker == "output-0")
    assert loss == tw.Metric("train:loss", "output-0", "", "gauge", "rank", "0") and acc.name == "acc"
    times, values, steps = trial.samples(loss)
    assert times.dtype == np.int64 and np.all(np.diff(times) > 0)
    assert values[0] == 4 and math.isnan(values[1]) and list(steps) == [3, 4]
    assert math.isnan(trial.samples(acc).step[0])
    assert len(trial.samples(loss, times[1]).value) == 1 and len(trial.samples(loss, 0, times[1]).value) == 1
    with pytest.raises(LookupError, match="no such metric"):
        trial.samples(loss._replace(name="other"))


def test_the_machine_was_sampled(printed: Path) -> None:
    trial = tw.open(printed)
    busy = next(metric for metric in trial.metrics() if metric.name == "cpu.busy")
    assert (busy.worker, busy.unit, busy.kind, busy.source) == ("machine-0", "seconds", "counter", "host")
    assert busy.instance
    values = trial.samples(busy).value
    assert len(values) >= 1 and values[0] > 0 and np.all(np.diff(values) >= 0)


def test_the_frame_is_that_of_training_job_analytics(printed: Path) -> None:
    frame = tw.metrics_frame(printed, period=0)
    assert list(frame) == ["timestamp", "metric_name", "value"]
    assert frame["metric_name"] == ["train:loss", "train:loss", "acc"]
    assert frame["timestamp"][0] == frame["timestamp"][2] == 0
    assert math.isnan(frame["value"][1])
    full = tw.metrics_frame(printed, period=0, relative=None, full=True)
    assert list(full) == ["timestamp", "metric_name", "value", "step", "host", "time"]
    assert full["step"] == [3, 4, None] and full["timestamp"][0] > 1.7e9
    with pytest.raises(ValueError, match="period"):
        tw.metrics_frame(printed, period=-1)
    with pytest.raises(FileNotFoundError):
        tw.metrics_frame(printed.parent / "none")
