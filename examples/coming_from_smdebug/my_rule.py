"""A rule as smdebug's documentation teaches to write one."""

from smdebug.rules.rule import Rule


class GradientsAreTiny(Rule):
    def __init__(self, base_trial, action_str="", threshold=1e-7):
        super().__init__(base_trial, action_str)
        self.threshold = float(threshold)

    def invoke_at_step(self, step):
        for name in self.base_trial.tensor_names(step=step, collection="gradients"):
            abs_mean = self.base_trial.tensor(name).reduction_value(step, "mean", abs=True)
            if abs_mean < self.threshold:
                self.logger.info(f"mean of |{name}| is {abs_mean} at step {step}")
                return True
        return False
