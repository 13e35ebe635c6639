"""A training in NumPy that diverges: what the wheel's package and program must see on a bare system."""
import numpy

import trainwarden

numbers = numpy.random.default_rng(0)
inputs, wanted = numbers.normal(size=(64, 8)), numbers.normal(size=(64, 1))
weights = numpy.zeros((8, 1))
hook = trainwarden.Hook("runs/diverging", save_all=True)
for _ in range(60):
    gap = inputs @ weights - wanted
    hook.save_scalar("loss", float(numpy.mean(gap**2)))
    hook.save_tensor("weights", weights)
    weights = weights - 5.0 * (2 * inputs.T @ gap / len(inputs))
    hook.step()
hook.close()
trial = trainwarden.open("runs/diverging")
assert len(trial.steps()) == 60, trial.steps()
