"""What capture costs a training of JAX: steps of the program's own function and of the watched one in turns, in one process.

    build/venv/bin/python bench/jax_cost.py [--blocks 60] [--model mlp|small|cnn]

Prints a line of JSON: milliseconds of a step alone, and with capture as multiples of that, the medians of blocks of ten steps
that lie beside each other:

- idle: attached, and nothing but the loss wanted; the program reads its loss at each step.
- default: as `trainwarden run` has it, under its budget of 1 %, of which the first tenth of a second is spent before.
- every_step: statistics of all gradients and weights of every step, without a budget.
- ahead: the same in a loop that waits for every tenth result only: what it costs that the training thread waits for the tensors
  it hands over.
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
EVERY_STEP = {**ATTACHED, "TRAINWARDEN_CONFIG": json.dumps({
    "include_collections": ["gradients", "weights", "biases", "losses"], "keep": {"values": False, "statistics": True},
    "save": {"save_interval": 1}, "budget": 0,
})}  # fmt: skip
IDLE = {**ATTACHED, "TRAINWARDEN_CONFIG": json.dumps({"include_collections": ["gradients"],
                                                      "save": {"save_interval": 1 << 40}})}  # fmt: skip
WAYS: dict[str, tuple[dict[str, str], str]] = {
    "idle": (IDLE, "waits"),
    "default": (ATTACHED, "waits"),
    "every_step": (EVERY_STEP, "waits"),
    "ahead": (EVERY_STEP, "ahead"),
}

PROGRAM = """
import statistics, sys, time
import numpy as np
import jax, jax.numpy as jnp, optax
model, blocks, way = sys.argv[1], int(sys.argv[2]), sys.argv[3]
random = np.random.default_rng(1)
if model == "cnn":
    import flax.linen as nn
    class Net(nn.Module):
        @nn.compact
        def __call__(self, x):
            for width in (32, 64, 128):
                x = nn.relu(nn.Conv(width, (3, 3), strides=(2, 2))(x))
            return nn.Dense(10)(nn.relu(nn.Dense(128)(x.reshape(x.shape[0], -1))))
    net = Net()
    images = random.random((64, 32, 32, 3), np.float32)
    params = net.init(jax.random.key(0), images)["params"]
    predict = lambda params, images: net.apply({"params": params}, images)
else:
    sizes = [784, 512, 512, 10] if model == "mlp" else [16, 32, 4]
    images = random.random((64, sizes[0]), np.float32)
    params = [{"w": jnp.asarray(random.standard_normal((a, b), np.float32) / a ** 0.5), "b": jnp.zeros(b)}
              for a, b in zip(sizes, sizes[1:])]
    def predict(params, x):
        for layer in params[:-1]:
            x = jax.nn.relu(x @ layer["w"] + layer["b"])
        return x @ params[-1]["w"] + params[-1]["b"]
labels = random.integers(0, 4, 64)
optimizer = optax.adam(1e-3)
state = optimizer.init(params)
def error(params, images, labels):
    return optax.softmax_cross_entropy_with_integer_labels(predict(params, images), labels).mean()
@jax.jit
def step(params, state, images, labels):
    loss, gradients = jax.value_and_grad(error)(params, images, labels)
    updates, state = optimizer.update(gradients, state, params)
    return optax.apply_updates(params, updates), state, loss
def block(step):
    global params, state
    begin = time.perf_counter()
    for _ in range(10):
        params, state, loss = step(params, state, images, labels)
        if way == "waits":
            float(loss)
    jax.block_until_ready(loss)
    return (time.perf_counter() - begin) / 10 * 1e3
for _ in range(10):
    block(step)
pairs = []
for number in range(blocks):
    first, second = (step, step._trainwarden_plain) if number % 2 else (step._trainwarden_plain, step)
    one, other = block(first), block(second)
    pairs.append((other, one) if number % 2 else (one, other))
print(statistics.median(plain for plain, _ in pairs), statistics.median(watched / plain for plain, watched in pairs))
"""


def measure(way: str, model: str, blocks: int) -> tuple[float, float]:
    """Milliseconds of a step alone, and how many times that it takes when it is watched."""
    variables, waiting = WAYS[way]
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TRAINWARDEN")}
    with tempfile.TemporaryDirectory() as folder:
        environment = {**kept, **variables, "TRAINWARDEN_RUN_DIR": str(Path(folder) / "run"), "OMP_NUM_THREADS": "1"}
        if "TRAINWARDEN_CONFIG" in variables:
            file = Path(folder) / "config.json"
            file.write_text(variables["TRAINWARDEN_CONFIG"])
            environment["TRAINWARDEN_CONFIG"] = str(file)
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, model, str(blocks), waiting],
            env=environment, capture_output=True, text=True, check=True,
        )  # fmt: skip
        if not (Path(folder) / "run" / "run.json").exists():
            sys.exit(f"nothing was captured: {done.stderr}")
        alone, ratio = done.stdout.split()
        return float(alone), float(ratio)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--blocks", type=int, default=60)
    parser.add_argument("--model", choices=["mlp", "small", "cnn"], default="mlp")
    options = parser.parse_args()
    found = {way: measure(way, options.model, options.blocks) for way in WAYS}
    answer = {"plain_ms": statistics.median(alone for alone, _ in found.values())}
    answer.update({way: ratio for way, (_, ratio) in found.items()})
    print(json.dumps({name: round(value, 3) for name, value in answer.items()}))


if __name__ == "__main__":
    main()
