"""Rules as users of smdebug wrote them: nothing here knows of Trainwarden."""

from smdebug.rules.rule import Rule


class CustomGradientRule(Rule):
    """The sample of smdebug's documentation: fires at the first gradient whose mean is too small."""

    def __init__(self, base_trial, threshold=10.0):
        super().__init__(base_trial, action_str="")
        self.threshold = float(threshold)

    def invoke_at_step(self, step):
        for tname in self.base_trial.tensor_names(collection="gradients"):
            t = self.base_trial.tensor(tname)
            abs_mean = t.reduction_value(step, "mean", abs=True)
            if abs_mean < self.threshold:
                return True
        return False


class SumsAreSmall(Rule):
    """Asks for what it needs beforehand, and looks back."""

    def __init__(self, base_trial, action_str="", other_trials=None, limit="20"):
        super().__init__(base_trial, action_str, other_trials)
        self.name = "a name of its own"
        self.parameters = {"limit": limit}
        self.limit = float(limit)
        self.judged = []

    def set_required_tensors(self, step):
        for steps in self.base_trial.tensor("weight").prev_steps(step, n=2):
            self.req_tensors.add(name="^weight$", steps=[steps], should_match_regex=True)

    def invoke_at_step(self, step):
        self.judged.append(step)
        total = 0.0
        for tensor in self.req_tensors.get():
            for needed in self.req_tensors.get_tensor_steps(tensor.name):
                total += tensor.value(needed).sum()
        self.report["Datapoints"] += 1
        return total > self.limit


class WeightsDiffer(Rule):
    """Compares two runs."""

    def __init__(self, base_trial, other_trials, action_str=""):
        super().__init__(base_trial, action_str, other_trials)

    def set_required_tensors(self, step):
        for trial in self.trials:
            self.req_tensors.add("weight", [step], trial)

    def invoke_at_step(self, step):
        (mine,), (other,) = self.req_tensors.get(), self.req_tensors.get(trial=self.other_trials[0])
        return abs(mine.value(step) - other.value(step)).max() > 0


class Raises(Rule):
    def invoke_at_step(self, step):
        raise ZeroDivisionError("by its own hand")
