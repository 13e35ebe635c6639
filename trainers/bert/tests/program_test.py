"""What others do with a training of `bert`: PyTorch reads its state, a job stops it at its target.

    python program_test.py build/release/bin/bert build/release/bin/trainwarden

What needs PyTorch skips itself without.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from typing import Any

import tiny_model

bert = trainwarden = ""


class ProgramTest(unittest.TestCase):
    """Each test in a folder of its own, with a tiny model and questions for it."""

    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)
        tiny_model.write_model(self.folder / "model")
        tiny_model.write_questions(self.folder / "train.json", 24)
        tiny_model.write_questions(self.folder / "dev.json", 240)

    def hyperparameters(self, **more: Any) -> dict[str, Any]:
        """Of a training that learns what is asked for in some thirty steps."""
        files = {"model": "model", "train": "train.json", "dev": "dev.json", "out": "out"}
        return {**{name: str(self.folder / file) for name, file in files.items()}, "max-length": 48, "threads": 1,
                "batch_size": 4, "learning_rate": 0.0005, **more}

    def trainwarden(self, *words: str) -> str:
        """What the program prints."""
        done = subprocess.run([trainwarden, *words], cwd=self.folder, capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def result(self) -> Any:
        return json.loads((self.folder / "out/result.json").read_text())

    def test_pytorch_reads_a_state_that_was_asked_for(self) -> None:
        """By torch.load, with its defaults."""
        try:
            import torch
        except ImportError as missing:
            self.skipTest(f"{missing}: install python3-torch")
        options = self.hyperparameters(epochs=4000, **{"eval-interval": 100000})
        words = [bert, "train-spans", *(word for name, value in options.items() for word in (f"--{name}", str(value)))]
        training = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(training.wait)
        self.addCleanup(training.kill)
        run = self.folder / "out/run"
        while not list(run.glob("journal/*/*.tw")):
            self.assertIsNone(training.poll(), "it ended before it was asked")
            time.sleep(0.02)
        self.trainwarden("save", str(run))
        self.assertIsNone(training.poll(), "it trains on")

        (file,) = run.glob("checkpoints/*.pt")
        state = torch.load(file)
        self.assertEqual(set(state), {"step", "model", "optimizer"})
        self.assertGreater(state["step"], 0)
        shapes = tiny_model.shapes_of_model()
        self.assertEqual({name: list(tensor.shape) for name, tensor in state["model"].items()}, shapes)
        self.assertEqual({name.partition(".")[2] for name in state["optimizer"]}, set(shapes))
        self.assertTrue(all(tensor.isfinite().all() for tensor in state["model"].values()))
        self.assertTrue(any(tensor.abs().max() > 0 for tensor in state["optimizer"].values()))

    def test_a_job_stops_at_its_target(self) -> None:
        """With the flags of the job's hyper-parameters alone."""
        options = self.hyperparameters(epochs=20, f1_threshold=60, num_to_evaluate=2, **{"sample-size": 80})
        (self.folder / "job.json").write_text(json.dumps({
            "name": "stops", "max_run": "10 min", "program": [bert, "train-spans"], "hyperparameters": options}))
        self.trainwarden("job", "lint", "job.json")
        self.trainwarden("submit", "--wait", "job.json")
        told = self.result()
        self.assertLess(told["steps"], 120)
        self.assertTrue(told["target"]["reached"])
        self.assertGreaterEqual(told["target"]["f1_not_below"], 60)
        self.assertEqual((told["sample"]["questions"], told["after"]["questions"]), (80, 240))
        log = self.trainwarden("job", "logs", "stops")
        self.assertIn("f1 has reached its target 60", log)
        self.assertIn(f"on the full set: {told['after']['f1']:.2f} (240 questions)", log)
        captured = json.loads(self.trainwarden("value", "stops", "f1_of_all", "--json"))
        self.assertAlmostEqual(captured["scalar"], told["after"]["f1"])


if __name__ == "__main__":
    bert, trainwarden = (os.path.abspath(sys.argv.pop(1)) for _ in range(2))
    unittest.main()
