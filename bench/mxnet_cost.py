"""What capture costs a training of Gluon: in one process it is followed and left alone in turns, a few steps each.

    build/venv/bin/python bench/mxnet_cost.py [--turns 40] [--steps 10] [--read-loss]

Prints a line of JSON: milliseconds of a step alone (the median), and as multiples of that a step with nothing that is
wanted, one with capture as `trainwarden run` has it by default, one with its loss alone, and one with statistics of all
weights, gradients and outputs; and the same of processor time, which other work on the machine disturbs less. With
--read-loss the program reads its loss in each step, as most do; without, it waits for nothing until a turn ends.
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

EVERY_STEP = {"TRAINWARDEN_SAVE_INTERVAL": "1", "TRAINWARDEN_KEEP": "statistics"}
WAYS: dict[str, dict[str, str]] = {
    "nothing_wanted": {"TRAINWARDEN_SAVE_INTERVAL": "1000000", "TRAINWARDEN_INCLUDE_COLLECTIONS": "weights"},
    "default": {"TRAINWARDEN_BUDGET": "0.005"},  # 1 % of the half of the time in which it is followed
    "losses": {"TRAINWARDEN_SAVE_INTERVAL": "1", "TRAINWARDEN_INCLUDE_COLLECTIONS": "losses"},
    "every_step": {**EVERY_STEP, "TRAINWARDEN_INCLUDE_COLLECTIONS": "weights,biases,gradients,outputs"},
}

PROGRAM = """
import json, sys, time
import mxnet as mx
from mxnet import autograd, gluon
import trainwarden.mxnet
module = sys.modules["trainwarden.mxnet.attach"]
turns, steps, reads_loss = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3] == "1"
mx.random.seed(1)
model = gluon.nn.HybridSequential()
model.add(gluon.nn.Conv2D(16, 3, activation="relu"), gluon.nn.MaxPool2D(2), gluon.nn.Conv2D(32, 3, activation="relu"))
model.add(gluon.nn.MaxPool2D(2), gluon.nn.Dense(256, activation="relu"), gluon.nn.Dense(10))
model.initialize(mx.init.Xavier())
criterion = gluon.loss.SoftmaxCrossEntropyLoss()
trainer = gluon.Trainer(model.collect_params(), "sgd", {"learning_rate": 0.01, "momentum": 0.9})
images, labels = mx.nd.random.uniform(shape=(64, 1, 28, 28)), mx.nd.floor(mx.nd.random.uniform(0, 10, (64,)))

def train(count):
    begin, begin_cpu = time.perf_counter(), time.process_time()
    for _ in range(count):
        with autograd.record():
            loss = criterion(model(images), labels)
        loss.backward()
        trainer.step(64)
        if reads_loss:
            loss.mean().asscalar()
    mx.nd.waitall()
    return (time.perf_counter() - begin) * 1000 / count, (time.process_time() - begin_cpu) * 1000 / count

train(60)  # the first steps are captured whole, and MXNet looks for its fastest convolutions
session, alone, followed = module._session, [], []
for turn in range(turns):
    module._session = None
    alone.append(train(steps))
    module._session = session
    followed.append(train(steps))
print(json.dumps([alone, followed]))
"""


def turns_of(way: str, turns: int, steps: int, reads_loss: bool) -> list[list[list[float]]]:
    """Milliseconds of a step, and of processor time, of each turn: alone, and followed."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TRAINWARDEN")}
    with tempfile.TemporaryDirectory() as folder:
        run = str(Path(folder) / "run")
        attached = {"TRAINWARDEN_ATTACH": "1", "TRAINWARDEN_RUN_DIR": run, "OMP_NUM_THREADS": "1"}
        environment = {**kept, **WAYS[way], **attached}
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, str(turns), str(steps), str(int(reads_loss))],
            env=environment, capture_output=True, text=True, check=True,
        )  # fmt: skip
        if not (Path(run) / "run.json").exists():
            sys.exit(f"nothing was captured: {done.stderr}")
        answer: list[list[list[float]]] = json.loads(done.stdout)
        return answer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=40)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--read-loss", action="store_true")
    options = parser.parse_args()
    plain: list[float] = []
    answer: dict[str, float] = {}
    for way in WAYS:
        alone, followed = turns_of(way, options.turns, options.steps, options.read_loss)
        plain += [elapsed for elapsed, _ in alone]
        for kind, index in (("", 0), ("_processor", 1)):
            ratios = [one[index] / other[index] for other, one in zip(alone, followed)]
            answer[way + kind] = round(statistics.median(ratios), 3)
    print(json.dumps({"plain_milliseconds": round(statistics.median(plain), 2), **answer}))


if __name__ == "__main__":
    main()
