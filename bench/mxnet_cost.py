"""What capture costs a training of Gluon: the same training with and without it, in turns, in processes of their own.

    build/venv/bin/python bench/mxnet_cost.py [--pairs 5] [--steps 300] [--read-loss]

Prints a line of JSON: milliseconds of a step alone (the median), and attached with nothing that is wanted, with capture as
`trainwarden run` has it by default, and with statistics of all weights, gradients and outputs of each step, as multiples of
that; and the same of the process's processor time, which other work on the machine disturbs less. With --read-loss the
program reads its loss in each step, as most do; without, it waits for nothing until its end.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ATTACHED = {"TRAINWARDEN_ATTACH": "1"}
EVERY_STEP = {"TRAINWARDEN_INCLUDE_COLLECTIONS": "weights,biases,gradients,outputs", "TRAINWARDEN_KEEP": "statistics"}
WAYS: dict[str, dict[str, str]] = {
    "plain": {},
    "nothing_wanted": {**ATTACHED, "TRAINWARDEN_SAVE_INTERVAL": "1000000", "TRAINWARDEN_INCLUDE_COLLECTIONS": "weights"},
    "default": ATTACHED,
    "every_step": {**ATTACHED, **EVERY_STEP, "TRAINWARDEN_SAVE_INTERVAL": "1"},
}

PROGRAM = """
import sys, time
import mxnet as mx
from mxnet import autograd, gluon
steps, reads_loss = int(sys.argv[1]), sys.argv[2] == "1"
mx.random.seed(1)
model = gluon.nn.HybridSequential()
model.add(gluon.nn.Conv2D(16, 3, activation="relu"), gluon.nn.MaxPool2D(2), gluon.nn.Conv2D(32, 3, activation="relu"))
model.add(gluon.nn.MaxPool2D(2), gluon.nn.Dense(256, activation="relu"), gluon.nn.Dense(10))
model.initialize(mx.init.Xavier())
criterion = gluon.loss.SoftmaxCrossEntropyLoss()
trainer = gluon.Trainer(model.collect_params(), "sgd", {"learning_rate": 0.01, "momentum": 0.9})
images, labels = mx.nd.random.uniform(shape=(64, 1, 28, 28)), mx.nd.floor(mx.nd.random.uniform(0, 10, (64,)))
for step in range(steps + 60):
    if step == 60:  # the first steps are captured whole, and MXNet looks for its fastest convolutions
        mx.nd.waitall()
        begin, begin_cpu = time.perf_counter(), time.process_time()
    with autograd.record():
        loss = criterion(model(images), labels)
    loss.backward()
    trainer.step(64)
    if reads_loss:
        loss.mean().asscalar()
mx.nd.waitall()
print((time.perf_counter() - begin) * 1000 / steps, (time.process_time() - begin_cpu) * 1000 / steps)
"""


def milliseconds_of(way: str, steps: int, reads_loss: bool) -> tuple[float, float]:
    """Of a step, and of processor time."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TRAINWARDEN")}
    with tempfile.TemporaryDirectory() as folder:
        environment = {**kept, **WAYS[way], "TRAINWARDEN_RUN_DIR": str(Path(folder) / "run"), "OMP_NUM_THREADS": "1"}
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, str(steps), str(int(reads_loss))],
            env=environment, capture_output=True, text=True, check=True,
        )  # fmt: skip
        if way != "plain" and not (Path(folder) / "run" / "run.json").exists():
            sys.exit(f"nothing was captured: {done.stderr}")
        elapsed, processor = done.stdout.split()
        return float(elapsed), float(processor)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--read-loss", action="store_true")
    options = parser.parse_args()
    measured: dict[str, list[tuple[float, float]]] = {way: [] for way in WAYS}
    for number in range(options.pairs):
        ways = list(WAYS)
        for way in ways[number % len(ways) :] + ways[: number % len(ways)]:
            measured[way].append(milliseconds_of(way, options.steps, options.read_loss))
    plain = measured["plain"]
    answer = {"plain_milliseconds": statistics.median(elapsed for elapsed, _ in plain)}
    for way in WAYS:
        if way != "plain":
            pairs = list(zip(plain, measured[way]))
            answer[way] = statistics.median(ours[0] / alone[0] for alone, ours in pairs)
            answer[f"{way}_processor"] = statistics.median(ours[1] / alone[1] for alone, ours in pairs)
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
