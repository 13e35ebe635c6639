"""Runs a Python program with a pause at each step of its optimizers, so that it can be looked at while it trains.

Usage: slowly.py SECONDS PROGRAM [ARGUMENT...]
"""

import os
import runpy
import sys
import time

import torch


def slow_down(seconds: float) -> None:
    """Every optimizer that is made from now on pauses before its step."""
    made = torch.optim.Optimizer.__init__

    def make(self, *args, **kwargs):
        made(self, *args, **kwargs)
        step = self.step

        def paused(*step_args, **step_kwargs):
            time.sleep(seconds)
            return step(*step_args, **step_kwargs)

        self.step = paused

    torch.optim.Optimizer.__init__ = make


def main() -> None:
    seconds, *sys.argv = sys.argv[1:]
    slow_down(float(seconds))
    sys.path[0] = os.path.dirname(os.path.abspath(sys.argv[0]))  # as if Python had been given the program
    runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    main()
