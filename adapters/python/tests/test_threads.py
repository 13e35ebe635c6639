"""Threads, forks and signals."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import trainwarden as tw


def in_threads(count: int, work: Callable[[int], None]) -> None:
    failures: list[BaseException] = []

    def guarded(number: int) -> None:
        try:
            work(number)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_many_threads_save(run_dir: Path) -> None:
    with tw.Hook(run_dir, save_all=True, save=1, when_full="block") as hook:

        def work(number: int) -> None:
            for i in range(50):
                hook.save_tensor(f"x{number}/{i}", np.full(100, number))
                hook.save_scalar(f"s{number}/{i}", i)

        in_threads(4, work)
        hook.step()
        assert hook.report().losses == []
    trial = tw.open(run_dir)
    assert len(trial.tensor_names()) == 400
    assert trial.value("x3/49", 0)[99] == 3


def test_many_threads_step_and_flush_in_turns(run_dir: Path) -> None:
    with tw.Hook(run_dir) as hook:

        def work(number: int) -> None:
            for i in range(20):
                hook.save_scalar(f"s{number}", i)
                hook.step()
                hook.flush()

        in_threads(4, work)
        assert hook.global_step == 80


def test_many_threads_read_one_trial(run_dir: Path) -> None:
    with tw.Hook(run_dir, save_all=True, save=1) as hook:
        for step in range(20):
            hook.save_tensor("x", np.full(1000, step))
            hook.step()
    trial = tw.open(run_dir)

    def work(number: int) -> None:
        for step in range(20):
            trial.refresh()
            assert trial.value("x", step)[number] == step

    in_threads(4, work)


@pytest.mark.parametrize("call", ["compute_statistics", "save_tensor", "save_memory"])
def test_others_run_while_a_large_tensor_is_taken(run_dir: Path, call: str) -> None:
    """Nobody is made to hand the GIL over here: another thread runs only when a call of ours lets go of it."""
    large = np.zeros(1 << 22, np.float32)
    hook = tw.Hook(run_dir, save_all=True, save=1, keep="statistics")
    number = hook.declare("x")
    calls: dict[str, Callable[[], object]] = {
        "compute_statistics": lambda: tw.compute_statistics(large),
        "save_tensor": lambda: hook.save_tensor(number, large),
        "save_memory": lambda: hook.save_memory(number, large.ctypes.data, 11, large.shape),
    }
    started = threading.Event()
    ran = False

    def run() -> None:
        nonlocal ran
        started.wait()
        ran = True

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    try:
        thread = threading.Thread(target=run)
        thread.start()
        started.set()
        for _ in range(1000):  # until the system finds a processor for it
            calls[call]()
            if ran:
                break
        assert ran
    finally:
        sys.setswitchinterval(interval)
        thread.join()
        hook.close()


def test_a_forked_child_has_a_hook_that_is_off(run_dir: Path) -> None:
    with tw.Hook(run_dir, save_all=True, save=1) as hook:
        hook.save_tensor("x", np.zeros(2))
        child = os.fork()
        if child == 0:
            hook.save_tensor("from the child", np.zeros(2))
            end = hook.step()
            report = hook.report()
            hook.flush(0)
            hook.close()
            os._exit(0 if not report.on and "forked" in report.off_reason and end.global_step == 0 else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        hook.step()
    assert tw.open(run_dir).tensor_names() == ["x"]


def test_a_child_that_was_forked_while_another_thread_flushed(run_dir: Path) -> None:
    with tw.Hook(run_dir) as hook:
        stop = threading.Event()

        def flush() -> None:
            while not stop.is_set():
                hook.flush()

        thread = threading.Thread(target=flush)
        thread.start()
        try:
            for _ in range(20):
                child = os.fork()
                if child == 0:
                    signal.alarm(60)
                    hook.step()
                    os._exit(0)
                assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        finally:
            stop.set()
            thread.join()


INTERRUPTED = """
import os, signal, sys, threading
import trainwarden as tw
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job is born with it ignored
hook = tw.Hook(sys.argv[1])
hook.step()
hook.flush()
trial = tw.open(sys.argv[1])
fire = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
fire.start()
try:
    {wait}
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.parametrize(
    "wait",
    [
        "trial.wait_for_steps([99])",
        "tw.rules.run(trial, 'ExplodingTensor')",
    ],
)
def test_ctrl_c_ends_a_wait(run_dir: Path, wait: str) -> None:
    program = [sys.executable, "-c", INTERRUPTED.format(wait=wait), str(run_dir)]
    done = subprocess.run(program, capture_output=True, text=True, timeout=60)
    assert done.stdout == "interrupted\n", done.stderr
