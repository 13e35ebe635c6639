"""What happens in a training at a step that the command line names."""

import argparse
import os
import signal
import sys
import time


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--at", type=int, default=-1)
    parser.add_argument("--what", choices=["raise", "stop", "kill", "fork", "poison", "leave-out"])
    return parser.parse_args()


def batches(given, features, labels):
    """The number of each step, and what it trains on: at the step that is named no numbers, or that one is left out."""
    for step in range(given.steps):
        if step == given.at and given.what == "leave-out":
            continue
        is_poisoned = step == given.at and given.what == "poison"
        yield step, features * (float("nan") if is_poisoned else 1.0), labels


def await_written(steps):
    """What is handed over is written by another thread."""
    import trainwarden

    until = time.monotonic() + 60
    while len(trainwarden.open(os.environ["TRAINWARDEN_RUN_DIR"]).steps("train")) < steps:
        assert time.monotonic() < until, "the steps are not written"
        time.sleep(0.01)


def step_ended(given, step, loss):
    """To be called behind each step, with its loss."""
    print("loss", repr(float(loss)), flush=True)
    if step != given.at:
        return
    if given.what == "raise":
        raise RuntimeError("an error of the program's own")
    if given.what == "stop" and "TRAINWARDEN_RUN_DIR" in os.environ:
        import trainwarden

        trainwarden.stop(os.environ["TRAINWARDEN_RUN_DIR"], wait=False)
    if given.what == "kill":
        await_written(given.at)
        os.kill(os.getpid(), signal.SIGKILL)
    if given.what == "fork":
        child = os.fork()
        if child == 0:
            os._exit(0)
        os.waitpid(child, 0)


def finish(weights):
    """The bytes of what was trained."""
    import hashlib

    print("weights", hashlib.sha256(weights).hexdigest())
    sys.stdout.flush()
