"""A training in which no step ends says where its threads are, and one that goes on says nothing."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from trainwarden.torch import flight_recorder, stalls


class _Hook:
    def __init__(self, folder: Path) -> None:
        self.run_dir = str(folder)
        self.rank = 1
        self.global_step = 0


class _Looks:
    """Of a watch, at a clock of its own: it stands in for the event that is waited for between two of them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, hook: _Hook, count: int, steps: int) -> None:
        self.left, self._hook, self._steps, self._now = count, hook, steps, 0.0
        clock = SimpleNamespace(monotonic=lambda: self._now, time_ns=time.time_ns, process_time=time.process_time)
        monkeypatch.setattr(stalls, "time", clock)

    def wait(self, seconds: float) -> bool:
        self._now += seconds
        self._hook.global_step += self._steps
        self.left -= 1
        return self.left < 0

    def is_set(self) -> bool:
        return False


def looks(monkeypatch: pytest.MonkeyPatch, folder: Path, steps: int) -> _Looks:
    """A watch has looked 50 times, between which so many steps have ended, or has ended before."""
    hook = _Hook(folder)
    looks = _Looks(monkeypatch, hook, 50, steps)
    watch = stalls.StallWatch(hook)
    monkeypatch.setattr(watch, "_is_stopped", looks)
    watch._run()
    return looks


# In a process of its own: how idle one is cannot be told beside the threads of other tests.
_PROGRAM = """
import os, sys, threading, time
from trainwarden.torch import stalls

stalls.FIRST_SECONDS, stalls.AGAIN_SECONDS, stalls._LOOK_SECONDS = 1.0, 1.0, 0.2
told = threading.Event()


class Hook:
    run_dir, rank, global_step = sys.argv[1], 1, 0


def await_report():
    while not os.path.exists(os.path.join(sys.argv[1], "stalls", "rank-00001.json")):
        time.sleep(0.1)
    told.set()


def waits_for_a_lock():
    told.wait()


def computes():
    while not told.is_set():
        sum(range(1000))


threading.Thread(target=await_report).start()
watch = stalls.StallWatch(Hook())
watch.start()
globals()[sys.argv[2]]()
watch.stop()
"""


def _report(folder: Path, function: str) -> dict[str, Any]:
    program = folder / "program.py"
    program.write_text(_PROGRAM)
    subprocess.run([sys.executable, str(program), str(folder), function], check=True, timeout=120)
    report: dict[str, Any] = json.loads((folder / "stalls" / "rank-00001.json").read_text())
    return report


def test_a_stall_is_told_with_the_line_that_waits(tmp_path: Path) -> None:
    record = _report(tmp_path, "waits_for_a_lock")
    assert record["version"] == 1 and record["step"] == 0 and record["seconds"] >= 1
    assert record["is_idle"] is True and record["collective"] is None
    assert abs(record["written_unix_ns"] - time.time_ns()) < 60e9
    frames = record["threads"][0]["frames"]
    assert next(line for line in frames if line.startswith("* ")).endswith("in waits_for_a_lock")
    assert any("threading.py" in line and not line.startswith("* ") for line in frames)


def test_who_computes_is_not_idle(tmp_path: Path) -> None:
    assert _report(tmp_path, "computes")["is_idle"] is False


def test_steps_are_no_stall(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    looks(monkeypatch, tmp_path, steps=1)
    assert not (tmp_path / "stalls").exists()
    looks(monkeypatch, tmp_path, steps=0)
    assert (tmp_path / "stalls").exists()


def test_a_folder_that_is_gone_ends_it_quietly(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "stalls").write_text("in the way")
    assert looks(monkeypatch, tmp_path, steps=0).left > 0
    assert capfd.readouterr().err == ""


# Two processes that do not call the same operations; each ends by itself when both have told of it.
_COLLECTIVES = """
import json, os, sys, threading, time
import torch, torch.distributed as dist
from trainwarden.torch import stalls

folder, how, rank = sys.argv[1:]
stalls.FIRST_SECONDS, stalls.AGAIN_SECONDS, stalls._LOOK_SECONDS = 1.0, 1.0, 0.2


class Hook:
    run_dir, global_step = folder, 0


Hook.rank = int(rank)
os.environ["TORCH_FR_BUFFER_SIZE"] = "100"
dist.init_process_group("gloo", init_method=f"file://{folder}/meeting", rank=Hook.rank, world_size=2)
part = dist.new_group([0, 1])
dist.all_reduce(torch.ones(3), group=part)
for _ in range(3):
    dist.all_reduce(torch.ones(4))
stalls.StallWatch(Hook()).start()


def has_told(rank):
    try:
        with open(f"{folder}/stalls/rank-0000{rank}.json") as file:
            return len(json.load(file)["groups"]) == 2
    except OSError:
        return False


def end():
    while not has_told(0) or not has_told(1):
        time.sleep(0.1)
    os._exit(0)


threading.Thread(target=end).start()
if Hook.rank == 0:
    dist.all_reduce(torch.ones(4))
elif how == "skips":
    time.sleep(120)
else:
    dist.broadcast(torch.ones(5), 0)
time.sleep(120)
"""


def _groups_of_two(folder: Path, how: str) -> list[dict[str, Any]]:
    """By rank, that of all processes; that the other group is told, too, is looked at here."""
    program = folder / "program.py"
    program.write_text(_COLLECTIVES)
    command = [sys.executable, str(program), str(folder), how]
    started = [subprocess.Popen([*command, str(rank)], stderr=subprocess.DEVNULL) for rank in range(2)]
    for each in started:
        each.wait(timeout=120)
    reports = [json.loads((folder / "stalls" / f"rank-0000{rank}.json").read_text()) for rank in range(2)]
    parts = [report["groups"][1] for report in reports]
    assert parts[0]["ranks"] == "0-1" and parts[0]["number"] == parts[1]["number"]
    whole: list[dict[str, Any]] = [report["groups"][0] for report in reports]
    assert [(each["group"], each["ranks"]) for each in whole] == [("0", "0-1")] * 2
    return whole


def test_who_has_left_out_a_collective_operation_has_a_lower_number(tmp_path: Path) -> None:
    first, second = _groups_of_two(tmp_path, "skips")
    assert first["number"] - second["number"] == 1
    assert (first["operation"], first["sizes"]) == ("all_reduce", [4])
    assert "state" not in first or (first["state"], second["state"]) == ("scheduled", "completed")


def test_who_calls_another_operation_has_the_same_number(tmp_path: Path) -> None:
    first, second = _groups_of_two(tmp_path, "mixes")
    assert first["number"] == second["number"]
    assert (first["operation"], first["sizes"]) == ("all_reduce", [4])
    assert (second["operation"], second["sizes"]) == ("broadcast", [5])


# The flight recorder of NCCL needs a GPU. These are dumps as torch 2.15 makes them (the fields of its version 2.10), which
# that of Gloo above makes, too; older versions give a pickle.
_ENTRY = {
    "collective_seq_id": 7, "p2p_seq_id": 0, "process_group": ["1", "tensor_parallel"], "profiling_name": "nccl:_all_gather_base",
    "input_sizes": [[3, 2]], "output_sizes": [[6, 2]], "state": "started", "retired": False, "is_p2p": False,
}  # fmt: skip
_OTHERS = [
    {**_ENTRY, "collective_seq_id": 6, "profiling_name": "nccl:all_reduce", "state": "scheduled", "retired": True},
    {**_ENTRY, "collective_seq_id": 5, "state": "completed"},
    {**_ENTRY, "collective_seq_id": 9, "is_p2p": True},
    "no entry",
    {"process_group": ["1"], "collective_seq_id": "no number"},
]


def _fake(monkeypatch: pytest.MonkeyPatch, dumps: dict[str, Any]) -> None:
    c10d: Any = pytest.importorskip("torch._C._distributed_c10d")
    for name in ("_dump_nccl_trace_json", "_dump_nccl_trace", "_dump_fr_trace_json"):
        monkeypatch.delattr(c10d, name, raising=False)
        if name in dumps:
            monkeypatch.setattr(c10d, name, dumps[name], raising=False)


def _json_dump(includeCollectives: bool, onlyActive: bool) -> bytes:
    return json.dumps({"version": "2.10", "entries": [_ENTRY, *_OTHERS]}).encode()


def _pickle_dump(includeCollectives: bool, includeStackTraces: bool, onlyActive: bool) -> bytes:
    assert not includeStackTraces
    return pickle.dumps({"version": "2.4", "entries": [_ENTRY, *_OTHERS]})


def test_the_flight_recorder_of_nccl(monkeypatch: pytest.MonkeyPatch) -> None:
    for dumps in ({"_dump_nccl_trace_json": _json_dump}, {"_dump_nccl_trace": _pickle_dump}):
        _fake(monkeypatch, dumps)
        assert flight_recorder.last_entries(2) == {
            "1": [(6, "all_reduce", [[3, 2]], "completed"), (7, "all_gather_base", [[3, 2]], "started")]
        }


def test_a_flight_recorder_that_is_otherwise_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(**how: bool) -> bytes:
        raise TypeError(how)

    for dump in (fails, lambda **how: b"garbage", lambda **how: b'{"entries": 3}', lambda **how: b"[1, null]"):
        _fake(monkeypatch, {"_dump_nccl_trace_json": dump})
        assert flight_recorder.last_entries(2) == {}
    _fake(monkeypatch, {})
    assert flight_recorder.last_entries(2) == {}
