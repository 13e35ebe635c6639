"""How fast a training is, as it counts itself: samples over wall time, once it has warmed up.

A program calls `step()` after each step of its optimizer and `tell()` at its end, which prints `samples_per_second N`.
"""

import time

BEGUN = time.perf_counter()


class Pace:
    """`warm_up` steps are not counted; with None all is, also what the program did before its first step."""

    def __init__(self, warm_up=20):
        self._steps_to_skip = warm_up
        self._since = BEGUN if warm_up is None else None
        self._samples = 0

    def step(self, samples):
        if self._since is not None:
            self._samples += samples
        elif self._steps_to_skip > 1:
            self._steps_to_skip -= 1
        else:
            self._since = time.perf_counter()

    def tell(self):
        print(f"samples_per_second {self._samples / (time.perf_counter() - self._since):.3f}", flush=True)
