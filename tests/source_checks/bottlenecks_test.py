#!/usr/bin/env python3
"""scripts/bottlenecks.py: what is right, what is wrong, and what is skipped."""
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import bottlenecks  # noqa: E402
import slow_means  # noqa: E402


def finding(rule, gain, explained_by="", message=""):
    return bottlenecks.Finding(rule, message, gain, gain, gain, explained_by)


def result(predicted=2.0, paces=(100.0, 200.0), first="InputBound", twin=()):
    pair = bottlenecks.Pair(pathlib.Path("slow.py"), ["InputBound"], "", "")
    made = bottlenecks.Result(pair)
    made.faulty.append(bottlenecks.Outcome(pace=paces[0], findings=[finding(first, predicted)]))
    made.mended.append(bottlenecks.Outcome(pace=paces[1], findings=list(twin)))
    return made


class ResultTest(unittest.TestCase):
    def test_right_rule_silent_twin_and_a_gain_as_predicted(self):
        self.assertEqual(list(result().problems(findings_only=False)), [])

    def test_a_prediction_may_miss_a_third_of_what_is_gained(self):
        self.assertTrue(result(predicted=2.29).prediction_holds())
        self.assertFalse(result(predicted=2.31).prediction_holds())
        self.assertFalse(result(predicted=1.69).prediction_holds())
        self.assertFalse(result(predicted=1.05, paces=(100, 100)).prediction_holds())

    def test_another_rule_first_is_wrong(self):
        (problem,) = result(first="StepOutlier").problems(findings_only=True)
        self.assertIn("first is StepOutlier", problem)
        disturbed = result(first="StepOutlier")
        disturbed.faulty[0].others = 0.5
        self.assertEqual(list(disturbed.problems(findings_only=True)), [])

    def test_a_finding_in_the_twin_is_wrong(self):
        (problem,) = result(twin=[finding("BatchSize", 1.2)]).problems(findings_only=True)
        self.assertIn("the twin has BatchSize", problem)

    def test_what_is_found_in_a_twin_while_others_work_is_told_and_is_no_failure(self):
        made = result(twin=[finding("StepOutlier", 1.2, message="some steps are slow")])
        made.mended[0].others = bottlenecks.MAX_OTHERS + 0.01
        self.assertEqual(list(made.problems(findings_only=True)), [])
        with mock.patch.object(bottlenecks, "say") as said:
            self.assertEqual(bottlenecks.report_problems([made], {}, True), 0)
        self.assertIn("during the twin of slow, which has StepOutlier", said.call_args.args[0])
        made.mended[0].others = bottlenecks.MAX_OTHERS
        self.assertEqual(len(list(made.problems(findings_only=True))), 1)

    def test_what_others_use_is_without_what_is_run_here(self):
        stat = "cpu {0} 0 0 900 0 0 0 0 0 0\n"
        looks = [stat.format(0), stat.format(300)]  # 3 s of 2 x 2 s
        usage = [mock.Mock(ru_utime=0.0, ru_stime=0.0), mock.Mock(ru_utime=1.5, ru_stime=0.5)]
        with (
            mock.patch.object(pathlib.Path, "read_text", side_effect=looks),
            mock.patch("resource.getrusage", side_effect=usage),
            mock.patch("time.monotonic", side_effect=[10.0, 12.0]),
            mock.patch("os.sysconf", return_value=100),
            mock.patch("os.cpu_count", return_value=2),
            mock.patch("os.sched_getaffinity", return_value={0, 1}),
        ):
            self.assertAlmostEqual(bottlenecks.Others().share(), 0.25)

    def test_a_rule_that_predicts_nothing_does_not_hold(self):
        self.assertFalse(result(predicted=None).prediction_holds())

    def test_a_run_that_failed_is_a_problem_even_if_only_findings_count(self):
        made = result()
        made.mended[0].error = "ended with code 1"
        self.assertEqual(list(made.problems(findings_only=True)), ["ended with code 1"])


class SkippingTest(unittest.TestCase):
    def test_a_pair_without_its_means_is_said_to_be_skipped(self):
        pair = bottlenecks.Pair(pathlib.Path("disk.py"), ["IOBottleneck"], "", "slow_disk")
        with tempfile.TemporaryDirectory() as folder:
            runner = bottlenecks.Runner("trainwarden", "python", pathlib.Path(folder), repeat=1)
            with mock.patch.object(slow_means, "disk", side_effect=slow_means.Missing("no loop devices")):
                made = runner.run_pair(pair)
        self.assertIn("no loop devices", made.skipped)
        self.assertIn("**skipped", " ".join(bottlenecks.row_of(made)))
        numbers = bottlenecks.figures([made], {})
        self.assertEqual((numbers["bottlenecks.pairs"], numbers["bottlenecks.skipped"]), (0, 1))


class FindingsTest(unittest.TestCase):
    REPORT = {
        "rules": [
            {"rule": "IOBottleneck", "status": "fired", "message": "a disk", "explained_by": None,
             "gain": {"expected": 3.0, "min": 2.0, "max": 4.0}},
            {"rule": "InputBound", "status": "fired", "message": "waits", "explained_by": "IOBottleneck", "gain": None},
            {"rule": "BatchSize", "status": "ok", "message": "", "explained_by": None, "gain": None},
        ]
    }  # fmt: skip

    def judged(self, hits):
        runner = bottlenecks.Runner("trainwarden", "python", pathlib.Path("runs"), repeat=1)
        answers = {"report": self.REPORT, "rules": [{"Hits": hits}]}
        with mock.patch.object(runner, "_json", side_effect=lambda command, run: answers[command]):
            return runner._with_findings(bottlenecks.Outcome(), pathlib.Path("runs/first"))

    def test_they_are_those_of_the_report_in_its_order_and_what_it_no_longer_has(self):
        hits = [
            {"rule": "InputBound", "outcome": "fired", "severity": "warning", "message": ""},
            {"rule": "MemoryLeak", "outcome": "fired", "severity": "warning", "message": "grows"},
            {"rule": "GPUThrottled", "outcome": "fired", "severity": "info", "message": "a note"},
            {"rule": "ProfilerReport", "outcome": "fired", "severity": "warning", "message": "what others found"},
        ]
        found = self.judged(hits).findings
        self.assertEqual([finding.rule for finding in found], ["IOBottleneck", "InputBound", "MemoryLeak"])
        self.assertEqual((found[0].gain, found[0].gain_min, found[0].gain_max), (3.0, 2.0, 4.0))
        self.assertEqual((found[1].gain, found[1].explained_by), (None, "IOBottleneck"))

    def test_a_rule_that_failed_is_an_error(self):
        made = self.judged([{"rule": "InputBound", "outcome": "error", "severity": "", "message": "damaged"}])
        self.assertIn("InputBound failed: damaged", made.error)


class PairsTest(unittest.TestCase):
    def test_each_file_says_which_rule_it_is_about(self):
        pairs = bottlenecks.pairs_of(bottlenecks.PAIRS)
        self.assertEqual(len(pairs), 14)
        self.assertEqual(len({pair.rules[0] for pair in pairs}), 14)
        self.assertEqual(len(bottlenecks.pairs_of(bottlenecks.PAIRS / "held_out")), 6)

    def test_what_only_a_machine_can_do_has_means(self):
        means = {pair.name: pair.means for pair in bottlenecks.pairs_of(bottlenecks.PAIRS) if pair.means}
        self.assertEqual(means, {"slow_disk": "slow_disk", "throttled_container": "cpu_quota"})


if __name__ == "__main__":
    unittest.main()
