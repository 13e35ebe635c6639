"""Rules of one's own judge the run of explicit.py, beside one of the built-in rules."""

from trainwarden import rules


class LossIsFinite(rules.Rule):
    def evaluate(self, window):
        loss = window.scalar("MSELoss_output_0")
        if loss == loss:
            return rules.Verdict.ok()
        return rules.Verdict.fired("the loss is NaN", advice="lower the learning rate")


@rules.rule
def weights_stay_small(window, limit=10.0):
    return window.statistics("0.weight").abs_max <= limit


report = rules.run("runs/explicit", [LossIsFinite(), weights_stay_small(limit=5.0), "VanishingGradient"])
for status in report.statuses:
    print(status.rule_id, status.status.value)
