"""What Trainwarden costs a training on a GPU: BERT-base in bfloat16, paired with the same training alone.

    python bench/torch/gpu_bert.py [--json] [--rounds N] [--steps N] [--batch N] [--length N] [--layers N]

Each way of watching is a process of its own with a model of its own on the same GPU; they take turns, a block of steps
each, so that each round gives a ratio. Steps are timed from an idle GPU to an idle GPU. One JSON object a line with
--json, a table otherwise; the figures are medians over the rounds. Without a CUDA device it says so and measures
nothing.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Any, Optional

import torch
from torch import nn

WORDS, WIDTH, HEADS, INNER, PLACES = 30522, 768, 12, 3072, 512
# Of weights, biases and gradients at every step; how much slower a step may be at most.
GOALS: dict[str, Optional[float]] = {"none": None, "statistics": 1.02, "values": 1.15}


class Layer(nn.Module):
    """One layer of BERT: attention, then two linear layers, each added to what came in and normalised."""

    def __init__(self) -> None:
        super().__init__()
        self.query, self.key, self.value, self.out = (nn.Linear(WIDTH, WIDTH) for _ in range(4))
        self.inner, self.outer = nn.Linear(WIDTH, INNER), nn.Linear(INNER, WIDTH)
        self.norm_attention, self.norm_output = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        batch, length, _ = hidden.shape
        heads = [
            linear(hidden).view(batch, length, HEADS, WIDTH // HEADS).transpose(1, 2)
            for linear in (self.query, self.key, self.value)
        ]
        attended = nn.functional.scaled_dot_product_attention(*heads)
        hidden = self.norm_attention(hidden + self.out(attended.transpose(1, 2).reshape(batch, length, WIDTH)))
        return self.norm_output(hidden + self.outer(nn.functional.gelu(self.inner(hidden))))


class Bert(nn.Module):
    """Of BERT-base's size: 199 tensors, 109 million parameters in float32. The head shares the words' embedding."""

    def __init__(self, layers: int) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(WORDS, WIDTH), nn.Embedding(PLACES, WIDTH)
        self.kinds = nn.Embedding(2, WIDTH)
        self.norm = nn.LayerNorm(WIDTH)
        self.layers = nn.ModuleList(Layer() for _ in range(layers))
        self.pooler = nn.Linear(WIDTH, WIDTH)

    def forward(self, text: torch.Tensor) -> torch.Tensor:
        places = torch.arange(text.shape[1], device=text.device)
        hidden = self.norm(self.words(text) + self.places(places) + self.kinds(torch.zeros_like(text)))
        for layer in self.layers:
            hidden = layer(hidden)
        return torch.tanh(self.pooler(hidden[:, 0])) @ self.words.weight.t()


class Training:
    """The training of one arm, watched or not."""

    def __init__(self, arm: str, run_dir: str, batch: int, length: int, layers: int) -> None:
        torch.manual_seed(1)
        self.model = Bert(layers).cuda()
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-4, fused=True)
        self.text = torch.randint(0, WORDS, (batch, length), device="cuda")
        self.target = torch.randint(0, WORDS, (batch,), device="cuda")
        self.hook: Any = None
        self.watcher: Any = None
        if arm != "none":
            self.watch(arm, run_dir)

    def watch(self, arm: str, run_dir: str) -> None:
        import trainwarden
        import trainwarden.torch

        # Dry: what is measured is the way to the host; no disk takes 25 GB/s.
        self.hook = trainwarden.Hook(
            run_dir,
            include_collections=["weights", "biases", "gradients"],
            save=1,
            keep=arm,
            staging_bytes="4GiB" if arm == "values" else "256MiB",
            when_full="block",
            dry_run=True,
        )
        self.watcher = trainwarden.torch.watch(self.hook, self.model, self.optimizer)

    def step(self) -> None:
        self.optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = nn.functional.cross_entropy(self.model(self.text), self.target)
        loss.backward()
        self.optimizer.step()
        if self.watcher is not None:
            self.watcher.step()

    def timed_steps(self, count: int) -> float:
        """Milliseconds a step, from an idle GPU to an idle GPU."""
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(count):
            self.step()
        torch.cuda.synchronize()
        return (time.perf_counter() - begin) * 1e3 / count

    def losses(self) -> dict[str, int]:
        """What was not captured, by its cause: a figure with losses is no figure."""
        if self.hook is None:
            return {}
        self.hook.flush()
        return {loss.cause: loss.count for loss in self.hook.report().losses}


def serve(arguments: argparse.Namespace) -> None:
    """The child: reads a number of steps from each line, and prints the milliseconds that one took."""
    with tempfile.TemporaryDirectory() as folder:
        training = Training(arguments.arm, folder + "/run", arguments.batch, arguments.length, arguments.layers)
        training.timed_steps(5)
        print("ready", flush=True)
        for line in sys.stdin:
            count = int(line)
            print(json.dumps(training.timed_steps(count) if count > 0 else training.losses()), flush=True)


class Arm:
    def __init__(self, name: str) -> None:
        self.name = name
        self.samples: list[float] = []
        command = [sys.executable, __file__, *sys.argv[1:], "--arm", name]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._answer()

    def ask(self, steps: int) -> Any:
        assert self._process.stdin is not None
        print(steps, file=self._process.stdin, flush=True)
        return json.loads(self._answer())

    def stop(self) -> None:
        self._process.communicate()

    def _answer(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit(f"the arm {self.name} ended early; its words are above")
        return line


def measure(arguments: argparse.Namespace) -> bool:
    """Prints the figures. True: all goals were reached without a loss."""
    arms = [Arm(name) for name in GOALS]
    for _ in range(arguments.rounds):
        for arm in arms:
            arm.samples.append(arm.ask(arguments.steps))
    alone = arms[0].samples
    good = True
    for arm in arms:
        factor = statistics.median(mine / other for mine, other in zip(arm.samples, alone))
        goal, lost = GOALS[arm.name], arm.ask(0)
        ok = (goal is None or factor <= goal) and not lost
        good = good and ok
        figure = {
            "name": f"gpu.bert_{arm.name}", "step_ms": statistics.median(arm.samples), "factor": factor, "goal": goal,
            "ok": ok, "lost": lost, "device": torch.cuda.get_device_name(), "torch": torch.__version__,
        }  # fmt: skip
        if arguments.json:
            print(json.dumps(figure), flush=True)
        else:
            step_ms = figure["step_ms"]
            print(f"{figure['name']:<24} {step_ms:8.2f} ms  {factor:6.3f} x  goal {goal}  lost {lost}", flush=True)
        arm.stop()
    return good


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true")
    for name, default in (("rounds", 11), ("steps", 20), ("batch", 32), ("length", 384), ("layers", 12)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--arm", choices=GOALS, help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> int:
    arguments = parse()
    if not torch.cuda.is_available():
        print("skipped: PyTorch sees no CUDA device")
        return 0
    if arguments.arm is not None:
        serve(arguments)
        return 0
    return 0 if measure(arguments) else 1


if __name__ == "__main__":
    sys.exit(main())
