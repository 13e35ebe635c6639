"""Tests of the race: what is said of figures, and a small race of the contenders that need no other libraries.

usage: race_test.py --arm RACE_ARM
"""

from __future__ import annotations

import json
import subprocess
import sys
import unittest
from pathlib import Path

from loads import POOL_BYTES, all_loads, resnet50, tiny_loads
from table import TIMES, Results, goals_missed, markdown

HERE = Path(__file__).resolve().parent
ARM = ""


def results_of(**medians: float) -> Results:
    """Nanoseconds of writing the load mixed, by contender."""
    results = Results(versions={name: name.upper() for name in medians})
    for name, median in medians.items():
        results.add("mixed", "write", name, [median * 2, median, median / 2])
    return results


class Loads(unittest.TestCase):
    def test_the_mixed_load_is_a_resnet_50(self) -> None:
        sizes = [tensor.bytes // 4 for tensor in all_loads()["mixed"].tensors]
        self.assertEqual(len(resnet50()), 161)
        self.assertEqual(sum(sizes), 2 * 25_557_032)

    def test_no_tensor_lies_outside_of_the_pool_or_has_the_numbers_of_the_step_before(self) -> None:
        for load in all_loads().values():
            for tensor in load.tensors:
                self.assertLessEqual(tensor.offset + (load.steps - 1) * load.shift + tensor.bytes, POOL_BYTES)
            self.assertGreater(load.shift, 0)
            self.assertEqual(len({tensor.name for tensor in load.tensors}), len(load.tensors))


class Table(unittest.TestCase):
    def test_a_contender_is_compared_with_ours_in_its_language(self) -> None:
        text = markdown(results_of(ours=1e6, trainwarden=2e6, smdebug=3e7, plain=1.5e6), all_loads())
        self.assertIn("| OURS | 1 ms |", text)
        self.assertIn("| TRAINWARDEN | 2 ms |", text)
        self.assertIn("| SMDEBUG | 30 ms (15×) |", text)
        self.assertIn("| PLAIN | 1.5 ms (1.50×) |", text)

    def test_who_is_faster_than_we_is_said(self) -> None:
        missed = goals_missed(results_of(ours=1e6, trainwarden=2e6, smdebug=5e6, sqlite=5e5, plain=8e5))
        self.assertEqual(
            missed,
            [
                "ours, mixed, write: 5.0 times as fast as smdebug, of 10",
                "ours, mixed, write: sqlite takes 0.50 of our time",
                "ours, mixed, write: 80% of the speed of plain write(), of 90%",
                "trainwarden, mixed, write: 2.5 times as fast as smdebug, of 10",
                "trainwarden, mixed, write: sqlite takes 0.25 of our time",
                "trainwarden, mixed, write: 40% of the speed of plain write(), of 90%",
            ],
        )
        self.assertEqual(goals_missed(results_of(ours=1e6, smdebug=1e7, plain=0.95e6)), [])

    def test_who_failed_and_who_is_left_out_is_said(self) -> None:
        results = results_of(ours=1e6, zarr=2e6)
        results.failures["zarr", "mixed"] = "no room"
        results.skipped["hdf5"] = "not there"
        text = markdown(results, all_loads())
        self.assertIn("| ZARR | failed |", text)
        self.assertIn("- Failed: zarr at mixed: no room.", text)
        self.assertIn("- Left out: hdf5: not there.", text)


class SmallRace(unittest.TestCase):
    def race(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-B", str(HERE / "race.py"), "--arm", ARM, "--tiny", "--rounds", "1", "--json"]
        return subprocess.run([*command, *arguments], capture_output=True, text=True, check=False)

    def test_ours_and_the_limit(self) -> None:
        run = self.race("--contender", "ours", "--contender", "plain", "--contender", "sqlite",
                        "--formats-python", sys.executable)
        self.assertEqual(run.returncode, 0, run.stderr)
        found = json.loads(run.stdout)
        places = {(f["load"], f["operation"], f["contender"]) for f in found["figures"] if f["median"] > 0}
        for contender in ("ours", "plain", "sqlite"):
            for load in tiny_loads():
                for operation in TIMES:
                    self.assertIn((load, operation, contender), places)
        self.assertEqual(found["failed"], {})

    def test_a_contender_that_is_not_there_is_said(self) -> None:
        found = json.loads(self.race("--contender", "ours", "--contender", "sqlite", "--load", "small").stdout)
        self.assertEqual(found["skipped"], {"sqlite": "no --formats-python"})

    def test_a_contender_that_reads_wrong_bytes_has_no_figures(self) -> None:
        run = self.race("--contender", "broken", "--load", "small", "--formats-python", sys.executable)
        found = json.loads(run.stdout)
        self.assertEqual(run.returncode, 1)
        self.assertIn("was not read as it was written", found["failed"]["broken small"])
        self.assertEqual(found["figures"], [])


if __name__ == "__main__":
    ARM = sys.argv[sys.argv.index("--arm") + 1]
    unittest.main(argv=sys.argv[:1])
