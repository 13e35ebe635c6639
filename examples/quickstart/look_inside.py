"""Reads the run of explicit.py, while it is written or after."""

import trainwarden

trial = trainwarden.open("runs/explicit")
print(trial.state.value, len(trial.steps()), "steps")
for name in trial.tensor_names(collection="gradients"):
    step = trial.tensor(name).steps()[-1]
    gradient = trial.value(name, step)  # a NumPy array
    print(f"{name:<20} step {step}: mean |g| {abs(gradient).mean():.2e}")
