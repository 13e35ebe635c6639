"""A training in which no step ends says where its threads are, and one that goes on says nothing."""

from __future__ import annotations

import json
import pickle
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from trainwarden.torch import flight_recorder, stalls


class _Hook:
    def __init__(self, folder: Path) -> None:
        self.run_dir = str(folder)
        self.rank = 1
        self.global_step = 0


@pytest.fixture
def hook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> _Hook:
    monkeypatch.setattr(stalls, "FIRST_SECONDS", 0.4)
    monkeypatch.setattr(stalls, "AGAIN_SECONDS", 0.4)
    monkeypatch.setattr(stalls, "_LOOK_SECONDS", 0.1)
    return _Hook(tmp_path)


# In a process of its own: how idle one is cannot be told beside the threads of other tests.
_PROGRAM = """
import sys, threading, time
from trainwarden.torch import stalls

stalls.FIRST_SECONDS, stalls.AGAIN_SECONDS, stalls._LOOK_SECONDS = 1.0, 1.0, 0.2


class Hook:
    run_dir, rank, global_step = sys.argv[1], 1, 0


def waits_for_a_lock():
    threading.Event().wait(3.5)


def computes():
    end = time.monotonic() + 3.5
    while time.monotonic() < end:
        sum(range(1000))


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


def test_steps_are_no_stall(hook: _Hook, tmp_path: Path) -> None:
    watch = stalls.StallWatch(hook)
    watch.start()
    for _ in range(20):
        hook.global_step += 1
        time.sleep(0.03)
    watch.stop()
    assert not (tmp_path / "stalls").exists()


def test_a_folder_that_is_gone_ends_it_quietly(hook: _Hook, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "stalls").write_text("in the way")
    watch = stalls.StallWatch(hook)
    watch.start()
    time.sleep(0.8)
    watch.stop()
    assert capfd.readouterr().err == ""


# Two processes that do not call the same operations; each ends by itself when it has waited long enough.
_COLLECTIVES = """
import os, sys, threading, time
import torch, torch.distributed as dist
from trainwarden.torch import stalls

folder, how, port, rank = sys.argv[1:]
stalls.FIRST_SECONDS, stalls.AGAIN_SECONDS, stalls._LOOK_SECONDS = 1.0, 1.0, 0.2


class Hook:
    run_dir, global_step = folder, 0


Hook.rank = int(rank)
os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=port, TORCH_FR_BUFFER_SIZE="100")
dist.init_process_group("gloo", rank=Hook.rank, world_size=2)
part = dist.new_group([0, 1])
dist.all_reduce(torch.ones(3), group=part)
for _ in range(3):
    dist.all_reduce(torch.ones(4))
stalls.StallWatch(Hook()).start()
threading.Timer(5, os._exit, [0]).start()
if Hook.rank == 0:
    dist.all_reduce(torch.ones(4))
elif how == "skips":
    time.sleep(30)
else:
    dist.broadcast(torch.ones(5), 0)
time.sleep(30)
"""


def _free_port() -> int:
    with socket.socket() as own:
        own.bind(("127.0.0.1", 0))
        port: int = own.getsockname()[1]
        return port


def _groups_of_two(folder: Path, how: str) -> list[dict[str, Any]]:
    """By rank, that of all processes; that the other group is told, too, is looked at here."""
    program = folder / "program.py"
    program.write_text(_COLLECTIVES)
    command = [sys.executable, str(program), str(folder), how, str(_free_port())]
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
