"""Hooks whose run is to lie in a bucket: written here, sent by a process beside the training."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from bucket_server import BucketServer

import trainwarden as tw
from trainwarden import _spool

TRAINING = """
import logging, os, sys, trainwarden as tw
logging.basicConfig(format="%(message)s")
tw._spool._LAST_WAIT_S = float(os.environ.get("WAIT_S", "30"))
tw._spool._LOOK_S = float(os.environ.get("LOOK_S", "0.5"))
rank, world_size = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
with tw.Hook(sys.argv[1], save_all=True, save=1, rank=rank, world_size=world_size) as hook:
    for step in range(5):
        hook.save_tensor("weight", [float(step + rank)] * 8)
        hook.step()
        hook.flush()
    print("written", hook.run_dir, flush=True)
    sys.stdin.readline()
maps = open("/proc/self/maps").read()
assert "libcurl" not in maps and "libtrainwarden_buckets" not in maps
"""


@pytest.fixture(autouse=True)
def _own_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRAINWARDEN_RUNS", str(tmp_path / "runs"))


def start(address: str, **variables: str) -> subprocess.Popen[str]:
    pipe = subprocess.PIPE
    environment = {**os.environ, **variables}
    training = subprocess.Popen(
        [sys.executable, "-c", TRAINING, address], env=environment, stdin=pipe, stdout=pipe, stderr=pipe, text=True
    )
    assert training.stdout is not None
    assert training.stdout.readline() == f"written {_spool.folder_of(address)}\n", training.communicate()
    return training


def end(training: subprocess.Popen[str]) -> str:
    """Lets it end; what it says on standard error."""
    _, problems = training.communicate("\n", timeout=120)
    assert training.returncode == 0, problems
    return problems


def wait_for(what: Callable[[], bool], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < deadline, "it did not come"
        time.sleep(0.05)


def mirrors_of(address: str) -> list[int]:
    """The processes that send it."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if b"mirror" in words and address.encode() in words:
            found.append(int(process.name))
    return found


def assert_whole(bucket: BucketServer, address: str) -> None:
    folder = Path(_spool.folder_of(address))
    here = {
        str(file.relative_to(folder)): file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file() and file.suffix not in (".lock", ".tmp")
    }
    prefix = address.removeprefix("s3://bucket/") + "/"
    there = {key.removeprefix(prefix): content for key, content in bucket.objects(prefix).items()}
    assert there == here and "run.json" in here


def test_the_run_is_there_when_the_training_has_ended(bucket: BucketServer) -> None:
    address = "s3://bucket/hooks/first"
    training = start(address)
    assert len(mirrors_of(address)) == 1
    assert end(training) == ""
    assert mirrors_of(address) == []
    assert_whole(bucket, address)
    trial = tw.open(address)
    assert (trial.state, trial.steps()) == (tw.RunState.COMPLETED, list(range(5)))


ADDING = """
import os, sys, time, trainwarden as tw
with tw.Hook(sys.argv[1], save_all=True) as hook:
    hook.step()
copy = tw._spool._copies[hook.run_dir]
while copy._is_sending():
    time.sleep(0.02)
os.mkdir(os.path.join(hook.run_dir, "more"))
open(os.path.join(hook.run_dir, "more", "late.txt"), "w").write("late")
if len(sys.argv) > 2:
    tw._spool.added_to(hook.run_dir)
"""


@pytest.mark.parametrize("is_told", [True, False])
def test_files_that_come_after_the_end_of_a_run_are_sent_too(bucket: BucketServer, is_told: bool) -> None:
    address = f"s3://bucket/hooks/late-{is_told}"
    subprocess.run([sys.executable, "-c", ADDING, address, *(["told"] if is_told else [])], check=True, timeout=120)
    assert ("hooks/late-%s/more/late.txt" % is_told in bucket.objects(f"hooks/late-{is_told}/")) == is_told
    assert mirrors_of(address) == []


def test_a_finished_run_is_not_written_over(bucket: BucketServer) -> None:
    address = "s3://bucket/hooks/twice"
    end(start(address))
    with pytest.raises(FileExistsError):
        tw.Hook(address)


def test_what_a_killed_training_has_written_arrives(bucket: BucketServer) -> None:
    address = "s3://bucket/hooks/killed"
    training = start(address)
    training.kill()
    training.communicate()
    wait_for(lambda: mirrors_of(address) == [])
    assert_whole(bucket, address)
    assert tw.open(address).steps() == list(range(5))
    # Who looks there cannot see the process; until its promise has run out it may live.
    assert tw.open(_spool.folder_of(address)).state is tw.RunState.DIED


WAITING = """
import os, sys, threading, trainwarden as tw
with tw.Hook(sys.argv[1], save_all=True) as hook:
    hook.step()
    print(len(threading.enumerate()))
    try:
        os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        print("no child")
"""


def test_who_sends_is_no_child_and_no_thread_that_a_program_could_wait_for(bucket: BucketServer) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WAITING, "s3://bucket/hooks/waited"], capture_output=True, text=True, timeout=60
    )
    assert (done.stdout, done.stderr) == ("1\nno child\n", "")


def test_ranks_have_one_mirror(bucket: BucketServer) -> None:
    address = "s3://bucket/hooks/ranks"
    ranks = [start(address, RANK=str(rank), WORLD_SIZE="3") for rank in range(3)]
    assert len(mirrors_of(address)) == 1
    for rank in ranks:
        end(rank)
    wait_for(lambda: mirrors_of(address) == [])
    assert_whole(bucket, address)
    assert tw.open(address).workers == ["rank-00000", "rank-00001", "rank-00002"]


def test_a_training_does_not_wait_for_a_bucket_that_is_away(bucket: BucketServer) -> None:
    address = "s3://bucket/hooks/away"
    bucket.pause()
    try:
        training = start(address, WAIT_S="0.5")
        begin = time.monotonic()
        problems = end(training)
        assert time.monotonic() - begin < 20
        assert f"{address} is not whole yet" in problems and f"trainwarden mirror {_spool.folder_of(address)}" in problems
        assert len(mirrors_of(address)) == 1
    finally:
        bucket.go_on()
    wait_for(lambda: mirrors_of(address) == [], 120)
    assert_whole(bucket, address)


def test_without_the_program_the_run_stays_here(bucket: BucketServer, tmp_path: Path) -> None:
    address = "s3://bucket/hooks/alone"
    problems = end(start(address, TRAINWARDEN_PROGRAM=str(tmp_path / "none")))
    assert f"the run stays in {_spool.folder_of(address)}" in problems
    assert tw.open(_spool.folder_of(address)).state is tw.RunState.COMPLETED
    assert bucket.objects("hooks/alone/") == {}


def test_what_went_wrong_is_said_at_the_end_where_nobody_has_looked_yet(bucket: BucketServer, tmp_path: Path) -> None:
    address = "s3://bucket/hooks/broken"
    program, go = tmp_path / "broken", tmp_path / "go"
    program.write_text(f"#!/bin/sh\nuntil [ -e '{go}' ]; do sleep 0.05; done\necho it broke >&2\nexit 1\n")
    program.chmod(0o755)
    training = start(address, TRAINWARDEN_PROGRAM=str(program), LOOK_S="600")
    wait_for(lambda: mirrors_of(address) != [])
    go.touch()
    wait_for(lambda: mirrors_of(address) == [])
    assert end(training).count(f"the run stays in {_spool.folder_of(address)}: it could not be sent to {address}: it broke") == 1


def test_without_credentials_it_is_said(bucket: BucketServer) -> None:
    address = "s3://bucket/hooks/stranger"
    training = start(address, AWS_SECRET_ACCESS_KEY="")
    assert training.stderr is not None
    said = training.stderr.readline()  # while it trains
    assert f"could not be sent to {address}" in said and "AWS_ACCESS_KEY_ID" in said
    end(training)


def test_the_variable_of_hooks(bucket: BucketServer, monkeypatch: pytest.MonkeyPatch) -> None:
    address = "s3://bucket/hooks/variable"
    monkeypatch.setenv("TRAINWARDEN_RUN_DIR", address)
    with tw.Hook.from_environment(save_all=True, save=1) as hook:
        assert hook.run_dir == _spool.folder_of(address)
        hook.save_scalar("loss", 1.0)
        hook.step()
    wait_for(lambda: mirrors_of(address) == [])
    assert tw.open(address).steps() == [0]


def test_addresses_of_no_run() -> None:
    for address in ("s3://bucket", "s3://bucket/", "s3://bucket/../x", "s3:///x"):
        with pytest.raises(ValueError, match="s3://BUCKET/PREFIX"):
            tw.Hook(address)
