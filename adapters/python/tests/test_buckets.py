"""Runs in buckets, read through the package."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from bucket_server import BucketServer

import trainwarden as tw
from trainwarden import _places, _program, errors, rules

ADDRESS = "s3://bucket/runs/first"
WRITER = """
import sys, trainwarden as tw
with tw.Hook(sys.argv[1], save_all=True, save=1) as hook:
    for step in range(int(sys.argv[2])):
        hook.save_tensor("weight", [float(step)] * 8)
        hook.save_scalar("loss", 1.0 / (step + 1))
        hook.step()
        if step >= 3:
            hook.flush(); print(step, flush=True); sys.stdin.readline()
"""


def write_run(folder: Path, steps: int = 6) -> None:
    with tw.Hook(folder, save_all=True, save=1, labels={"who": "me"}) as hook:
        for step in range(steps):
            hook.set_mode("eval" if step % 3 == 2 else "train")
            hook.save_tensor("weight", np.arange(20_000, dtype=np.float32) * (step + 1))
            hook.save_tensor("words", ["a", "é", str(step)])
            hook.save_scalar("loss", 1.0 / (step + 1))
            hook.step()


@pytest.fixture
def copied(bucket: BucketServer, run_dir: Path, request: pytest.FixtureRequest) -> tuple[Path, str]:
    """A run on the disk, and its copy in the bucket."""
    write_run(run_dir)
    prefix = f"runs/{request.node.name}"
    bucket.put_folder(prefix, run_dir)
    return run_dir, f"s3://bucket/{prefix}"


def run_python(text: str, *words: str, **more: object) -> subprocess.Popen[str]:
    pipe = subprocess.PIPE
    return subprocess.Popen([sys.executable, "-c", text, *words], stdin=pipe, stdout=pipe, stderr=pipe, text=True, **more)  # type: ignore[call-overload,no-any-return]


def test_a_run_there_is_the_one_here(copied: tuple[Path, str]) -> None:
    here, there = tw.open(copied[0]), tw.open(copied[1])
    assert there.path == copied[1]
    assert (there.run_id, there.state, there.labels, there.workers) == (here.run_id, here.state, here.labels, here.workers)
    assert there.steps() == here.steps() == list(range(6))
    assert there.modes == here.modes
    assert there.tensor_names() == here.tensor_names() == ["loss", "weight", "words"]
    for step in here.steps():
        np.testing.assert_array_equal(there.value("weight", step), here.value("weight", step))
        assert list(there.value("words", step)) == list(here.value("words", step))
        assert there.scalar("loss", step) == here.scalar("loss", step)
        assert there.reduction("weight", step, "std") == here.reduction("weight", step, "std")
    assert tw.describe(copied[1])["TrainingJobStatus"] == tw.describe(copied[0])["TrainingJobStatus"] == "Completed"


def test_rules_judge_it_and_exports_are_the_same(copied: tuple[Path, str], tmp_path: Path) -> None:
    here, there = copied
    judge = ["LossNotDecreasing", "ExplodingTensor"]
    judged = [rules.run(run, judge, write_journal=False) for run in copied]
    told = [[(one.rule_id, one.status, one.outcomes) for one in report.statuses] for report in judged]
    assert told[0] == told[1] and len(told[0]) == 2
    assert all(report.run_ended and report.last_judged_step == 5 for report in judged)
    for run, name in ((here, "here"), (there, "there")):
        tw.export(run, "npz", tmp_path / name)
    files = sorted(file.relative_to(tmp_path / "here") for file in (tmp_path / "here").rglob("*") if file.is_file())
    assert files
    for file in files:
        assert (tmp_path / "here" / file).read_bytes() == (tmp_path / "there" / file).read_bytes()


def test_a_run_that_is_written_is_followed_there(bucket: BucketServer, run_dir: Path) -> None:
    mirror = [_program.find(), "mirror", str(run_dir), "s3://bucket/runs/live", "--interval", "100ms"]
    with run_python(WRITER, str(run_dir), "7") as writer:
        assert writer.stdout is not None and writer.stdin is not None
        assert writer.stdout.readline() == "3\n"
        sending = subprocess.Popen(mirror, stdout=subprocess.DEVNULL)
        while not any("seg-" in key for key in bucket.objects("runs/live/")):
            assert sending.poll() is None
        trial = tw.open("s3://bucket/runs/live")
        trial.wait_for_steps([3], timeout_s=60)
        assert trial.steps() == [0, 1, 2, 3]
        assert not trial.loaded_all_steps
        with pytest.raises(TimeoutError):
            trial.wait_for_steps([4], timeout_s=0.3)
        writer.stdin.write("\n\n\n\n")
        writer.stdin.flush()
        assert writer.wait(60) == 0
        trial.wait_for_steps([6], timeout_s=60)
        assert trial.scalar("loss", 6) == 1 / 7
        assert sending.wait(60) == 0
        while not trial.loaded_all_steps:
            trial.refresh()
        assert trial.state is tw.RunState.COMPLETED


def test_what_is_wrong_is_said(bucket: BucketServer, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(FileNotFoundError, match="s3://bucket/runs/none"):
        tw.open("s3://bucket/runs/none")
    with pytest.raises(RuntimeError, match="there is no such bucket"):
        tw.open("s3://not-there/run")
    with pytest.raises(ValueError):
        tw.open("s3://")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "another")
    with pytest.raises(PermissionError, match="SignatureDoesNotMatch"):
        tw.open("s3://bucket/runs/none")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    with pytest.raises(PermissionError, match="AWS_ACCESS_KEY_ID"):
        tw.open("s3://bucket/runs/none")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", bucket.secret)  # as a notebook does after that
    with pytest.raises(FileNotFoundError):
        tw.open("s3://bucket/runs/none")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    with pytest.raises(errors.Unavailable, match="127.0.0.1:1"):
        tw.open("s3://bucket/runs/none")


LOADED = """
import os, sys, trainwarden as tw
def loaded():
    maps = open("/proc/self/maps").read()
    return [name for name in ("libcurl", "libtrainwarden_buckets", "libssl") if name in maps]
before = loaded()
with tw.Hook(sys.argv[1], save_all=True) as hook:
    hook.save_scalar("loss", 1.0)
    hook.step()
assert tw.open(sys.argv[1]).steps() == [0]
assert loaded() == before == [], (before, loaded())
try:
    tw.open("s3://bucket/none")
except Exception as error:
    print(type(error).__name__)
assert "libtrainwarden_buckets" in loaded(), "this test would see nothing"
"""


def test_who_uses_no_bucket_loads_no_library_of_the_network(run_dir: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    environment.update(AWS_EC2_METADATA_DISABLED="true", HOME=str(run_dir.parent))
    environment.pop("TRAINWARDEN_BUCKETS", None)
    with run_python(LOADED, str(run_dir), env=environment) as process:
        out, problems = process.communicate(timeout=60)
    assert process.returncode == 0, problems
    assert out == "PermissionDenied\n"


def test_a_library_of_another_build_is_refused(tmp_path: Path) -> None:
    package = tmp_path / "trainwarden"
    package.mkdir()
    for file in Path(tw.__file__).parent.iterdir():
        if file.name != "libtrainwarden_buckets.so":
            (package / file.name).symlink_to(file)
    core = next(file for file in package.iterdir() if file.name.startswith("_core.") and file.suffix == ".so")
    content = core.read_bytes()
    core.unlink()
    core.write_bytes(content)  # it looks beside itself
    ask = "import trainwarden as tw\ntry: tw.open('s3://bucket/x')\nexcept tw.Error as error: print(error)"
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    missing = subprocess.run([sys.executable, "-c", ask], env=environment, capture_output=True, text=True, timeout=60)
    assert "buckets cannot be reached" in missing.stdout and "No such file" in missing.stdout, missing
    source = "extern \"C\" const char* const* trainwarden_buckets() { static const char* const other[3] = {\"other\"}; return other; }"
    (tmp_path / "other.cc").write_text(source)
    built = subprocess.run(["g++", "-shared", "-fPIC", "-o", package / "libtrainwarden_buckets.so", tmp_path / "other.cc"])
    if built.returncode != 0:
        pytest.skip("no g++ to make another library with")
    refused = subprocess.run([sys.executable, "-c", ask], env=environment, capture_output=True, text=True, timeout=60)
    assert "of another build" in refused.stdout, refused


def test_forked_children_read_at_once(copied: tuple[Path, str]) -> None:
    trial = tw.open(copied[1])
    expected = {step: float(np.asarray(tw.open(copied[0]).value("weight", step)).sum()) for step in range(6)}
    children = []
    for _ in range(4):
        child = os.fork()
        if child == 0:
            right = False
            try:
                right = all(
                    float(np.asarray(tw.open(copied[1]).value("weight", step)).sum()) == expected[step]
                    and float(np.asarray(trial.value("weight", step)).sum()) == expected[step]
                    for step in range(6)
                )
            finally:
                os._exit(0 if right else 1)
        children.append(child)
    for step in range(6):
        assert float(np.asarray(trial.value("weight", step)).sum()) == expected[step]
    assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children] == [0] * 4


# All imports first: one of compiled code of others may drop a Ctrl-C that comes in its midst. And with Python's handler:
# a shell starts what runs in its background, these tests may be that, with SIGINT ignored.
INTERRUPTED = """
import signal
from trainwarden import open as open_run
signal.signal(signal.SIGINT, signal.default_int_handler)
print("begin", flush=True)
try:
    open_run("s3://bucket/runs/none")
except KeyboardInterrupt:
    print("left", flush=True)
"""


def test_ctrl_c_ends_a_wait_for_a_bucket(bucket: BucketServer) -> None:
    bucket.pause()
    process = run_python(INTERRUPTED)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "begin\n"
        bucket.await_request()
        process.send_signal(signal.SIGINT)
        out, problems = process.communicate(timeout=20)  # less than one attempt at the server
        assert (out, process.returncode) == ("left\n", 0), problems
    finally:
        process.kill()
        process.communicate()
        bucket.go_on()


def test_other_threads_run_while_one_waits(bucket: BucketServer) -> None:
    ended: list[BaseException] = []

    def wait() -> None:
        try:
            tw.open("s3://bucket/runs/none")
        except BaseException as error:
            ended.append(error)

    bucket.pause()
    try:
        waiting = threading.Thread(target=wait)
        waiting.start()
        bucket.await_request()
        assert not ended and waiting.is_alive()
    finally:
        bucket.go_on()
    waiting.join(60)
    assert isinstance(ended[0], FileNotFoundError)


def test_places(copied: tuple[Path, str], bucket: BucketServer) -> None:
    for place in copied:
        assert _places.exists(place, "run.json") and _places.exists(place, "journal")
        assert not _places.exists(place, "none")
        names = {entry.name: entry.kind for entry in _places.entries(place)}
        assert (names["run.json"], names["journal"]) == ("file", "folder")
        assert _places.read(place, "run.json") == (copied[0] / "run.json").read_bytes()
        with pytest.raises(errors.OutOfRange):
            _places.read(place, "run.json", 3)
        with pytest.raises(errors.NotFound):
            _places.entries(place, "none")
        with pytest.raises(ValueError):
            _places.read(place, "../run.json")
    assert _places.is_in_bucket(copied[1]) and not _places.is_in_bucket(copied[0])
