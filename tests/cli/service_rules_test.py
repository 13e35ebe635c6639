"""The rules of SageMaker Debugger, asked for as its documentation and known notebooks ask for them.

    service_rules_test.py TRAINWARDEN TINY_TRAINING
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

TRAINWARDEN = TINY_TRAINING = ""

# The documented parameters of each rule, with values as the service hands them over: all are texts.
DOCUMENTED = {
    "VanishingGradient": {"threshold": "0.0000001", "collection_names": "gradients", "tensor_regex": "conv"},
    "ExplodingTensor": {"collection_names": "losses,metrics", "tensor_regex": ".*", "only_nan": "False"},
    "PoorWeightInitialization": {
        "activation_inputs_regex": ".*relu_input",
        "threshold": "10.0",
        "distribution_range": "0.001",
        "patience": "5",
        "steps": "10",
    },
    "SaturatedActivation": {
        "collection_names": "custom",
        "tensor_regex": ".*tanh_input|.*sigmoid_input",
        "threshold_tanh_min": "-9.4999",
        "threshold_tanh_max": "9.4999",
        "threshold_sigmoid_min": "-23",
        "threshold_sigmoid_max": "16.99999",
        "threshold_inactivity": "1.0",
        "threshold_layer": "50.0",
    },
    "DeadRelu": {"tensor_regex": ".*relu_output", "threshold_inactivity": "1.0", "threshold_layer": "50.0"},
    "WeightUpdateRatio": {
        "num_steps": "100",
        "large_threshold": "10.0",
        "small_threshold": "0.00000001",
        "epsilon": "0.000000001",
    },
    "TensorVariance": {
        "collection_names": "weights",
        "tensor_regex": "bias",
        "max_threshold": "10",
        "min_threshold": "0.00001",
    },
    "AllZero": {"collection_names": "weights", "tensor_regex": "bias", "threshold": "100"},
    "UnchangedTensor": {
        "collection_names": "losses",
        "tensor_regex": "bias",
        "num_steps": "3",
        "rtol": "1e-05",
        "atol": "1e-08",
        "equal_nan": "False",
    },
    "LossNotDecreasing": {
        "collection_names": "losses,metrics",
        "tensor_regex": "loss",
        "use_losses_collection": "true",
        "num_steps": "10",
        "diff_percent": "50",
        "increase_threshold_percent": "5",
        "mode": "GLOBAL",
    },
    "Overfit": {
        "collection_names": "losses",
        "tensor_regex": "loss",
        "start_step": "0",
        "patience": "1",
        "ratio_threshold": "0.1",
    },
    "Overtraining": {
        "collection_names": "losses,metrics",
        "tensor_regex": "loss",
        "patience_train": "10",
        "patience_validation": "10",
        "delta": "0.5",
    },
    "StalledTrainingRule": {
        "threshold": "1800",
        "stop_training_on_fire": "True",
        "training_job_name_prefix": "my-job",
    },
    "ClassImbalance": {
        "threshold_imbalance": "10",
        "threshold_misprediction": "0.7",
        "samples": "500",
        "argmax": "False",
        "labels_regex": ".*labels",
        "predictions_regex": ".*predictions",
    },
    "Confusion": {
        "category_no": "10",
        "labels": "labels",
        "predictions": "predictions",
        "labels_collection": "labels",
        "predictions_collection": "predictions",
        "min_diag": "0.9",
        "max_off_diag": "0.1",
    },
    "CheckInputImages": {
        "threshold_mean": "0.2",
        "threshold_samples": "500",
        "regex": ".*hybridsequential0_input_0",
        "channel": "1",
    },
    "NLPSequenceRatio": {
        "tensor_regex": ".*embedding0_input_0",
        "token_values": "0",
        "token_thresholds_percent": "50",
    },
    "FeatureImportanceOverweight": {
        "threshold": "0.8",
        "nfeatures": "3",
        "tensor_regex": ".*feature_importance/weight",
    },
    "TreeDepth": {"depth": "4"},
    "CreateXgboostReport": {},
}
NEED_A_CHOICE = {"TensorVariance", "AllZero", "UnchangedTensor"}  # of the tensors to judge, as the service asks for it


def spec(rule, parameters):
    return rule + ":" * bool(parameters) + ",".join(f'{name}="{value}"' for name, value in parameters.items())


class ServiceRulesTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def trainwarden(self, *arguments):
        return subprocess.run([TRAINWARDEN, *arguments], cwd=self.folder, capture_output=True, text=True, check=False)

    def assert_taken(self, rule, parameters):
        """The rule is made, and nothing is judged by it."""
        done = self.trainwarden("check", "--dry-run", "--rule", spec(rule, parameters))
        self.assertEqual(done.returncode, 0, f"{spec(rule, parameters)}: {done.stderr}")

    def test_every_documented_parameter_is_taken(self):
        for rule, parameters in DOCUMENTED.items():
            self.assert_taken(rule, parameters)
            for name, value in parameters.items() if rule not in NEED_A_CHOICE else ():
                self.assert_taken(rule, {name: value})

    def test_every_rule_takes_the_steps_of_the_invoker(self):
        for rule, parameters in DOCUMENTED.items():
            self.assert_taken(rule, {**parameters, "start_step": "10", "end_step": "20"})

    def test_the_notebook_of_a_classifier_asks_for_overtraining(self):
        self.assert_taken("Overtraining", {"collection_names": "losses,metrics", "patience_train": "10",
                                           "patience_validation": "10", "delta": "0.5"})

    def test_no_step_outside_of_the_range_is_judged(self):
        self.trainwarden("run", "--name", "first", "--", TINY_TRAINING, "--steps", "30")
        done = self.trainwarden("check", "first", "--json", "--rule",
                                "VanishingGradient:threshold=1000,start_step=10,end_step=12")
        answer = json.loads(done.stdout)
        self.assertEqual([verdict["step"] for verdict in answer["verdicts"]], [10])
        self.assertEqual(answer["rules"][0]["steps"]["not_applicable"], 10)
        none = self.trainwarden("check", "first", "--json", "--rule", "VanishingGradient:threshold=1000,end_step=0")
        self.assertEqual(json.loads(none.stdout)["rules"][0]["status"], "NotApplicable")
        wrong = self.trainwarden("check", "first", "--rule", "VanishingGradient:start_step=soon")
        self.assertEqual(wrong.returncode, 2, wrong.stderr)

    def test_a_healthy_run_has_no_rule_that_reads_as_failed(self):
        self.trainwarden("run", "--name", "healthy", "--rules", "default", "--", TINY_TRAINING, "--steps", "30")
        rules = json.loads(self.trainwarden("describe", "healthy", "--json").stdout)["DebugRuleEvaluationStatuses"]
        self.assertEqual({rule["RuleEvaluationStatus"] for rule in rules}, {"NoIssuesFound"})
        idle = [rule for rule in rules if rule["Status"] == "NotApplicable"]
        self.assertTrue(idle, "the training has nothing for some of them")
        for rule in idle:
            self.assertTrue(rule["StatusDetails"].startswith("Not applicable: "), rule)

    def test_a_rule_that_somebody_named_and_that_has_no_data_is_an_error(self):
        named = "DeadRelu:patience=3"
        self.trainwarden("run", "--name", "named", "--rule", named, "--", TINY_TRAINING, "--steps", "30")
        (rule,) = json.loads(self.trainwarden("describe", "named", "--json").stdout)["DebugRuleEvaluationStatuses"]
        self.assertEqual((rule["RuleEvaluationStatus"], rule["Status"]), ("Error", "NotApplicable"))
        self.assertTrue(rule["StatusDetails"].startswith("ClientError: no data to judge: "), rule)


if __name__ == "__main__":
    TRAINWARDEN, TINY_TRAINING = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1])
