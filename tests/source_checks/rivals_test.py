#!/usr/bin/env python3
"""tests/diagnosis/rivals: what a linter reads, and how what rivals say is scored."""
import json
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "diagnosis" / "rivals"))
import rivals  # noqa: E402
from invariants import models_of  # noqa: E402
from variant import variant  # noqa: E402

PROGRAM = """
import os
CASE = int(os.environ.get('CASE', '0'))
slow = CASE in (2, 3)
rate = 0.1 if slow else 0.5
for step in range(9):
    if CASE == 1 and step > 4:
        begin()
    elif CASE != 2:
        go()
    while True:
        break
"""


class VariantTest(unittest.TestCase):
    def test_only_what_is_run_is_left(self):
        self.assertIn("rate = 0.1", variant(PROGRAM, 2))
        self.assertNotIn("go()", variant(PROGRAM, 2))
        self.assertNotIn("begin()", variant(PROGRAM, 3))
        self.assertIn("rate = 0.5", variant(PROGRAM, 1))

    def test_what_is_known_only_in_the_run_stays(self):
        self.assertIn("if step > 4:\n        begin()\n    else:\n        go()", variant(PROGRAM, 1))
        self.assertIn("while True", variant(PROGRAM, 1))

    def test_a_name_that_changes_is_not_decided(self):
        text = "import os\nCASE = os.getenv('CASE')\nfault = CASE == '1'\nfault = f()\nif fault:\n    a()\nif CASE == '1':\n    b()\n"
        self.assertIn("if fault", variant(text, 1))
        self.assertNotIn("if CASE", variant(text, 1))


def answer(*messages):
    return {"seconds": 1.0, "diagnosis": {"messages": [dict(zip(("code", "severity", "step"), each), text="") for each in messages]}}


class ScoringTest(unittest.TestCase):
    preflight = rivals.TABLE["rivals"]["torch-preflight"]
    snitch = rivals.TABLE["rivals"]["gradsnitch"]
    faulty = {"faulty": True, "cause": "momentum_too_high", "also": [], "knowable_step": 1}
    healthy = {"faulty": False, "cause": "", "also": []}

    def scored(self, case, *messages, rival=snitch):
        return rivals.scored([(case, rivals.judged(answer(*messages), case, rival))])

    def test_a_message_counts_for_each_cause_of_its_class_but_names_one(self):
        figures = self.scored(self.faulty, ("GS008 high", "warning", 3))
        self.assertEqual((figures["first_pct"], figures["named_itself_pct"]), (100.0, 0.0))
        named = {**self.faulty, "cause": "learning_rate_too_high"}
        self.assertEqual(self.scored(named, ("GS008 high", "warning", 3))["named_itself_pct"], 100.0)

    def test_another_class_is_a_miss_and_a_graver_message_comes_first(self):
        self.assertEqual(self.scored(self.faulty, ("GS004", "warning", 3))["found_pct"], 0.0)
        figures = self.scored(self.faulty, ("GS004", "warning", 3), ("GS006", "error", 9))
        self.assertEqual(figures["first_pct"], 100.0)

    def test_hints_on_speed_neither_find_nor_alarm(self):
        self.assertEqual(self.scored(self.healthy, ("TG004", "warning", 0), rival=self.preflight)["false_alarm_pct"], 0.0)
        self.assertEqual(self.scored(self.healthy, ("TG003", "error", 0), rival=self.preflight)["false_alarm_pct"], 100.0)
        self.assertEqual(self.scored(self.healthy, ("GS003", "info", 0))["false_alarm_pct"], 0.0)

    def test_sentences_of_traincheck_are_told_by_patterns(self):
        case = {**self.faulty, "cause": "gradients_not_cleared"}
        figures = self.scored(case, ("Optimizer.zero_grad() always precedes sgd.sgd()", "error", 2), rival=rivals.TABLE["rivals"]["traincheck"])
        self.assertEqual(figures["first_pct"], 100.0)

    def test_all_causes_are_ours(self):
        ours = (ROOT / "src" / "judge" / "diagnosis" / "causes.cc").read_text()
        cases = json.loads((ROOT / "tests" / "diagnosis" / "tuning" / "cases.json").read_text())
        known = {case["cause"] for case in cases}
        for name, rival in rivals.TABLE["rivals"].items():
            for code, match in rival["messages"].items():
                for cause in rivals.causes_of({"code": code, "severity": "error"}, {**rival, "reads": ""})[0]:
                    self.assertTrue(cause in known or f'"{cause}"' in ours, f"{name} {code}: {cause}")


class ModelsTest(unittest.TestCase):
    def test_models_are_what_parameters_are_asked_of(self):
        self.assertEqual(models_of("o = SGD(net.parameters())\nself.parameters()\nclip(net.parameters(), head.parameters())"), ["net", "head"])

    def test_what_may_be_none_is_no_model(self):
        self.assertEqual(models_of("average = None\nnet.parameters()\naverage.parameters()"), ["net"])


if __name__ == "__main__":
    unittest.main()
