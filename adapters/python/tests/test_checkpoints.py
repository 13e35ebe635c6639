"""Checkpoints on request: the program's function is called at the end of a step, and nothing it does harms."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Callable, Optional

import pytest

import trainwarden as tw

from asking import answers, ask_for_checkpoint, ask_for_stop


def step_until(hook: tw.Hook, is_done: Callable[[], bool]) -> tw.StepEnd:
    for _ in range(10_000):
        hook.save_scalar("s", 1.0)
        end = hook.step()
        if is_done():
            return end
        hook.flush()
    raise AssertionError("nobody called")


def test_the_function_is_called_and_its_path_is_told(run_dir: Path) -> None:
    asked: list[tuple[int, str, str, str, int, str]] = []

    def save(step: int, request: tw.CheckpointRequest) -> Path:
        asked.append((step, request.key, request.reason, request.rule, request.global_step, request.requested_by))
        file = run_dir / "mine.bin"
        file.write_bytes(b"12345")
        return file

    with tw.Hook(run_dir) as hook:
        hook.on_checkpoint(save)
        assert not hook.step().checkpoint_requested
        ask_for_checkpoint(run_dir)
        end = step_until(hook, lambda: bool(asked))
        assert end.checkpoint_requested
        assert asked == [(end.global_step, "k", "just so", "", -1, "user")]
        step_until(hook, lambda: hook.global_step > end.global_step + 20)
    assert len(asked) == 1
    accepted, saved = answers(run_dir)
    assert accepted["type"] == "accepted" and saved["type"] == "saved"
    assert (saved["path"], saved["bytes"], saved["global_step"]) == ("mine.bin", 5, end.global_step)


@pytest.mark.parametrize(
    "result, said",
    [
        (None, ("saved", "")),
        ("s3://bucket/checkpoint", ("saved", "s3://bucket/checkpoint")),
        ("no/such/file", ("refused", "no such file")),
        (7, ("refused", "TypeError")),
    ],
)
def test_what_it_returns_is_looked_at(run_dir: Path, result: Optional[str], said: tuple[str, str]) -> None:
    called = []
    with tw.Hook(run_dir) as hook:
        hook.on_checkpoint(lambda step, request: called.append(step) or result)  # type: ignore[func-returns-value]
        ask_for_checkpoint(run_dir)
        step_until(hook, lambda: bool(called))
    answer = answers(run_dir)[-1]
    assert answer["type"] == said[0]
    assert said[1] in answer["error"] if said[0] == "refused" else answer["path"] == said[1]


def test_what_it_raises_is_told_and_training_goes_on(run_dir: Path, capfd: pytest.CaptureFixture[str]) -> None:
    called = []

    def save(step: int, request: tw.CheckpointRequest) -> None:
        called.append(step)
        raise OSError("no room")

    with tw.Hook(run_dir) as hook:
        hook.on_checkpoint(save)
        for key in ("a", "b"):
            ask_for_checkpoint(run_dir, key)
            step_until(hook, lambda key=key: len(called) == "ab".index(key) + 1)  # type: ignore[misc]
        assert hook.report().on
    told = [answer for answer in answers(run_dir) if answer["type"] == "refused"]
    assert [answer["key"] for answer in told] == ["a", "b"]
    assert all("OSError: no room" in answer["error"] for answer in told)
    assert "OSError: no room" in capfd.readouterr().err


def test_interrupts_are_the_programs(run_dir: Path) -> None:
    def save(step: int, request: tw.CheckpointRequest) -> None:
        raise KeyboardInterrupt

    with tw.Hook(run_dir) as hook:
        hook.on_checkpoint(save)
        ask_for_checkpoint(run_dir)
        with pytest.raises(KeyboardInterrupt):
            step_until(hook, lambda: False)
    assert answers(run_dir)[-1]["type"] == "refused"


def test_a_file_in_the_run_is_there_whole_or_not_at_all(run_dir: Path) -> None:
    def save(step: int, request: tw.CheckpointRequest) -> str:
        def write(file: str) -> None:
            Path(file).write_bytes(b"half")
            if request.key == "bad":
                raise ValueError("broken")

        return hook.write_checkpoint(".bin", write)

    with tw.Hook(run_dir) as hook:
        hook.on_checkpoint(save)
        for key, count in (("bad", 2), ("good", 4)):
            ask_for_checkpoint(run_dir, key)
            step_until(hook, lambda count=count: len(answers(run_dir)) == count)  # type: ignore[misc]
    bad, good = (answer for answer in answers(run_dir) if answer["type"] != "accepted")
    assert bad["type"] == "refused" and "ValueError: broken" in bad["error"]
    assert os.listdir(run_dir / "checkpoints") == [Path(good["path"]).name]
    assert good["path"] == f"checkpoints/step-{good['global_step']:06}-rank-00000.bin"
    assert (run_dir / good["path"]).read_bytes() == b"half"


def test_before_a_stop_comes_the_checkpoint(run_dir: Path) -> None:
    saved: list[int] = []
    ask_for_checkpoint(run_dir)
    ask_for_stop(run_dir)
    with tw.Hook(run_dir) as hook:
        hook.on_checkpoint(lambda step, request: saved.append(step))  # type: ignore[func-returns-value]
        end = hook.step()
        while not end.stop_requested:
            hook.save_scalar("s", 1.0)
            hook.flush()
            end = hook.step()
        assert saved and saved[0] <= end.global_step
    assert answers(run_dir)[-1]["type"] == "saved"


def test_a_program_may_look_for_requests_itself(run_dir: Path) -> None:
    with tw.Hook(run_dir) as hook:
        hook.offer_checkpoints()
        ask_for_checkpoint(run_dir)
        while not hook.step().checkpoint_requested:
            hook.save_scalar("s", 1.0)
            hook.flush()
        request = hook.take_checkpoint_request()
        assert request is not None and request.key == "k"
        assert hook.take_checkpoint_request() is None
        hook.answer_checkpoint(request, "", error="not now")
    assert "not now" in answers(run_dir)[-1]["error"]


def test_without_a_function_requests_are_refused(run_dir: Path) -> None:
    ask_for_checkpoint(run_dir)
    with tw.Hook(run_dir) as hook:
        hook.step()
    (answer,) = answers(run_dir)
    assert answer["type"] == "refused" and "on_checkpoint" in answer["error"]


def test_it_can_be_switched_off(run_dir: Path) -> None:
    called: list[int] = []
    ask_for_checkpoint(run_dir)
    with tw.Hook(run_dir, checkpoint_on_request=False) as hook:
        hook.on_checkpoint(lambda step, request: called.append(step))  # type: ignore[func-returns-value]
        hook.step()
    assert not called and "checkpoint_on_request" in answers(run_dir)[0]["error"]
