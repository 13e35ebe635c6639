#!/usr/bin/env python3
"""scripts/ranks_on_paper.py: the model by hand, and its limits."""
import dataclasses
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
from ranks_on_paper import BUCKET_MB, Machine, efficiency  # noqa: E402

# Three seconds a step, two of them backward; a link of 100 MB/s.
MACHINE = Machine(rate=1.0, batch=3.0, gradients_mb=2 * BUCKET_MB, link_gbit=0.8, carries=1.0, latency=0.0)


class RanksOnPaper(unittest.TestCase):
    def test_one_rank_waits_for_nobody(self):
        self.assertEqual(efficiency(MACHINE, 1), 1)

    def test_hidden_buckets_leave_the_last(self):
        # Two ranks send each gradient once: 0.26 s a bucket, of which the backward pass hides the first.
        self.assertAlmostEqual(efficiency(MACHINE, 2), 3 / (3 + BUCKET_MB / 100))

    def test_what_is_not_hidden_is_waited_for(self):
        slow = dataclasses.replace(MACHINE, link_gbit=0.08)
        # 5.24 s in all, while the second half of the backward pass hides one second.
        self.assertAlmostEqual(efficiency(slow, 2), 3 / (3 + 2 * BUCKET_MB / 10 - 1))

    def test_latency_is_of_each_hop(self):
        late = dataclasses.replace(MACHINE, link_gbit=1e9, latency=0.1)
        self.assertAlmostEqual(efficiency(late, 4), 3 / (3 + 6 * 0.1), places=6)


if __name__ == "__main__":
    unittest.main()
