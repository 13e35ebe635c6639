"""What smdebug's users do in a notebook, with a run of either maker."""

import sys

from smdebug import modes
from smdebug.trials import create_trial

trial = create_trial(sys.argv[1])
print(trial.tensor_names(collection="gradients"))
print(trial.steps(mode=modes.TRAIN)[:5], len(trial.steps(mode=modes.EVAL)))
weight = trial.tensor("Net_hidden.weight")
for step in weight.steps()[:3]:
    print(step, weight.value(step).shape, weight.reduction_value(step, "mean", abs=True))
