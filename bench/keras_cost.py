"""What capture costs a training of Keras: the same training with and without it, in turns, in processes of their own.

    KERAS_BACKEND=tensorflow PYTHON bench/keras_cost.py [--pairs 5] [--model mlp|cnn] [--steps 300]

PYTHON has Keras and the package trainwarden. Prints a line of JSON: milliseconds of a step of fit() alone (the median of
the second half of the steps, then of the processes), and with capture as multiples of that, pair by pair: attached and
nothing wanted, as `trainwarden run` has it by default, the loss of every step, and statistics of all weights and
gradients of every step without a budget.
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

_ATTACHED = {"TRAINWARDEN_ATTACH": "1"}
WAYS: dict[str, dict[str, str]] = {
    "plain": {},
    "idle": {**_ATTACHED, "TRAINWARDEN_INCLUDE_COLLECTIONS": "losses", "TRAINWARDEN_SAVE_INTERVAL": "1000000"},
    "default": _ATTACHED,
    "losses": {**_ATTACHED, "TRAINWARDEN_INCLUDE_COLLECTIONS": "losses", "TRAINWARDEN_SAVE_INTERVAL": "1"},
    "statistics": {
        **_ATTACHED,
        "TRAINWARDEN_INCLUDE_COLLECTIONS": "losses,weights,biases,gradients",
        "TRAINWARDEN_SAVE_INTERVAL": "1",
        "TRAINWARDEN_KEEP": "statistics",
    },
}

PROGRAM = """
import statistics, sys, time
import keras, numpy as np
from keras import layers
keras.utils.set_random_seed(1)
name, steps = sys.argv[1], int(sys.argv[2])
random = np.random.default_rng(1)
if name == "mlp":
    features = random.random((64 * 50, 784)).astype("float32")
    inside = [layers.Dense(512, activation="relu"), layers.Dense(512, activation="relu")]
else:
    features = random.random((64 * 50, 28, 28, 1)).astype("float32")
    inside = [layers.Conv2D(32, 3, activation="relu"), layers.MaxPooling2D(), layers.Conv2D(64, 3, activation="relu"),
              layers.MaxPooling2D(), layers.Flatten()]
labels = random.integers(0, 10, len(features))
model = keras.Sequential([keras.Input(features.shape[1:]), *inside, layers.Dense(10, activation="softmax")])
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy")
times = []
class Clock(keras.callbacks.Callback):
    def on_train_batch_begin(self, batch, logs=None):
        self.begin = time.perf_counter()
    def on_train_batch_end(self, batch, logs=None):
        times.append(time.perf_counter() - self.begin)
model.fit(features, labels, batch_size=64, epochs=steps // 50, verbose=0, callbacks=[Clock()])
print(statistics.median(times[len(times) // 2:]))
"""


def seconds_of(program: str, way: str, model: str, steps: int) -> float:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TRAINWARDEN")}
    with tempfile.TemporaryDirectory() as folder:
        environment = {**kept, **WAYS[way], "TRAINWARDEN_RUN_DIR": str(Path(folder) / "run")}
        done = subprocess.run(
            [sys.executable, "-c", program, model, str(steps)],
            env=environment, capture_output=True, text=True, check=True,
        )  # fmt: skip
        if way != "plain" and not (Path(folder) / "run" / "run.json").exists():
            sys.exit(f"nothing was captured: {done.stderr}")
        return float(done.stdout.split()[-1])


def main(program: str = PROGRAM, description: str = __doc__) -> None:
    """`program` gets a model and a number of steps, trains, and prints the seconds of a step."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--model", choices=["mlp", "cnn"], default="cnn")
    parser.add_argument("--steps", type=int, default=300)
    options = parser.parse_args()
    seconds: dict[str, list[float]] = {way: [] for way in WAYS}
    for number in range(options.pairs):
        ways = list(WAYS)
        for way in ways[number % len(ways) :] + ways[: number % len(ways)]:
            seconds[way].append(seconds_of(program, way, options.model, options.steps))
    answer = {"plain_ms": 1000 * statistics.median(seconds["plain"])}
    for way in list(WAYS)[1:]:
        answer[way] = statistics.median(b / a for a, b in zip(seconds["plain"], seconds[way]))
    print(json.dumps({name: round(value, 3) for name, value in answer.items()}))


if __name__ == "__main__":
    main()
