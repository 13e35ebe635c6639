"""Compares 100 steps of a training in C++ with the same training in PyTorch: the loss of each step, within 1e-4.

    python loss_curve_test.py --trainer build/release/trainers/bert/comparison/bert_span_trainer

The model and its loss are Hugging Face's, the optimizer AdamW, gradients are clipped, the learning rate warms up and
decays. Skips (exit status 77) without transformers. A small random model always; MiniLM's real weights on real questions,
twenty steps, when TRAINWARDEN_MINILM names its folder and TRAINWARDEN_SQUAD a file of SQuAD.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

try:
    import torch
    import transformers

    import made
except ImportError as missing:
    print(f"skipped: {missing}. Run it with a Python that has torch and transformers", file=sys.stderr)
    sys.exit(77)
import rival

LIMIT = 1e-4
NORM_LIMIT = 1e-3  # relative
MAX_NORM = 4.0  # above some steps' norm and below others'
trainer = ""


def ours(arguments: list[str], steps: int) -> list[dict[str, float]]:
    """What our program tells of each step."""
    done = subprocess.run([trainer, *arguments], input="train\n" * steps, capture_output=True, text=True, check=False)
    if done.returncode:
        raise AssertionError(done.stderr)
    return [json.loads(line) for line in done.stdout.splitlines()[1:]]


def theirs(arguments: list[str], steps: int) -> list[dict[str, float]]:
    """What PyTorch tells of them."""
    options = rival.option_parser().parse_args(arguments)
    torch.set_num_threads(options.threads)
    training = rival.Trainer(options)
    return [training.train() for _ in range(steps)]


class LossCurve(unittest.TestCase):
    """Our training against PyTorch's."""

    def setUp(self) -> None:
        self.work = tempfile.TemporaryDirectory()
        self.addCleanup(self.work.cleanup)
        self.folder = Path(self.work.name)

    def compare(self, steps: int, learning_rate: float, threads: int) -> list[float]:
        """Each step's loss and norm; the losses."""
        arguments = [str(self.folder), str(self.folder / "batches"), "--steps", str(steps), "--warmup-steps",
                     str(steps // 10), "--learning-rate", str(learning_rate), "--threads", str(threads), "--max-norm", str(MAX_NORM)]
        found, expected = ours(arguments, steps), theirs(arguments, steps)
        self.assertEqual(len(found), steps)
        worst = max(abs(a["loss"] - b["loss"]) for a, b in zip(found, expected))
        print(f"{steps} steps, loss from {expected[0]['loss']:.3f} to {expected[-1]['loss']:.3f}, at most {worst:.2g} apart")
        for step, (a, b) in enumerate(zip(found, expected)):
            self.assertAlmostEqual(a["loss"], b["loss"], delta=LIMIT, msg=f"loss of step {step}")
            self.assertAlmostEqual(a["norm"] / b["norm"], 1, delta=NORM_LIMIT, msg=f"gradient norm of step {step}")
        return [each["loss"] for each in expected]

    def test_small_model(self) -> None:
        made.random_model("tiny", self.folder)
        made.random_batches(self.folder / "batches", 5, 8, 60, 211)
        losses = self.compare(100, 2e-3, threads=1)
        self.assertLess(losses[-1], losses[0] / 2)  # or the curve would say little

    @unittest.skipUnless("TRAINWARDEN_MINILM" in os.environ and "TRAINWARDEN_SQUAD" in os.environ,
                         "TRAINWARDEN_MINILM and TRAINWARDEN_SQUAD name no folder of MiniLM and no file of SQuAD")
    def test_minilm(self) -> None:
        source = Path(os.environ["TRAINWARDEN_MINILM"])
        made.with_span_head(source, self.folder)
        made.squad_batches(self.folder / "batches", source / "vocab.txt", Path(os.environ["TRAINWARDEN_SQUAD"]), 20, 8,
                           384)
        self.compare(20, 4e-4, threads=2)


def main() -> None:
    """Reads the arguments and runs the tests."""
    global trainer
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trainer", required=True, help="the program bert_span_trainer")
    arguments, rest = parser.parse_known_args()
    trainer = arguments.trainer
    transformers.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
