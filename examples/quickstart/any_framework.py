"""A training in NumPy: the hook takes arrays of any framework."""

import numpy
import trainwarden

rng = numpy.random.default_rng(1)
x = rng.normal(size=(256, 3))
y = x @ [1.0, -2.0, 3.0]
weight = numpy.zeros(3)

with trainwarden.Hook("runs/numpy", include=["weight"], save=1) as hook:
    for step in range(100):
        error = x @ weight - y
        weight -= 0.1 * x.T @ error / len(x)
        hook.save_tensor("weight", weight)
        hook.save_scalar("error", float(error @ error))
        hook.step()
    with hook.mode("eval"):
        hook.save_scalar("largest error", float(abs(x @ weight - y).max()))
        hook.step()
