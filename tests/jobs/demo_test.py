"""`./dev demo jobs`, as it is sourced by dev: a job that is killed goes on, and its run has each step once."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "build/release/bin/trainwarden"
BATCHES = 60000 // 256  # of an epoch; one evaluation follows


class DemoOfJobs(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="trainwarden-demo-")
        self.addCleanup(self.folder.cleanup)
        names = ("JOBS", "RUNS", "EXPERIMENTS", "CATALOGUE")
        folders = {f"TRAINWARDEN_{name}": f"{self.folder.name}/{name.lower()}" for name in names}
        self.environment = {**os.environ, **folders}

    def ask(self, *words):
        answer = subprocess.run(
            [PROGRAM, *words, "--json"], env=self.environment, capture_output=True, text=True, timeout=60, check=True
        )
        return json.loads(answer.stdout)

    def test_it_plays_to_its_end(self):
        script = 'set -euo pipefail; say() { echo "dev: $*"; }; source scripts/demo_jobs.sh; demo_jobs'
        played = subprocess.run(
            ["bash", "-c", script], cwd=ROOT, env=self.environment, capture_output=True, text=True, timeout=500
        )
        self.assertEqual(played.returncode, 0, played.stdout + played.stderr)
        for text in ("kill -9 ", "ended by signal 9", "Produced  Model"):
            self.assertIn(text, played.stdout + played.stderr)
        # A busy machine kills late: after a later checkpoint.
        self.assertRegex(played.stdout, r"going on after (100|150|200) steps")
        [job] = self.ask("job", "ls")["jobs"]
        self.assertEqual(job["status"], "Completed")
        description = self.ask("job", "describe", job["name"])
        self.assertEqual(description["attempt"], 2)
        steps = self.ask("steps", description["run"])
        self.assertEqual([step["step"] for step in steps["steps"]], list(range(BATCHES + 1)))


if __name__ == "__main__":
    sys.exit(unittest.main())
