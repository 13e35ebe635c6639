"""Boosted stumps, written with the Python Hook API under the names of smdebug's hook for XGBoost.

With --fault one feature gives away the target, so that hardly any other is used.

rule: FeatureImportanceOverweight:nfeatures=2
within: 20
names: feature_importance/weight/f0
"""

import sys

import numpy

import trainwarden

FEATURES, SAMPLES, ROUNDS, STUMPS, RATE = 8, 400, 12, 4, 0.1


def best_stump(samples: numpy.ndarray, rest: numpy.ndarray) -> "tuple[int, numpy.ndarray]":
    """The feature, and what it predicts, of the split at a quantile that leaves the least squared error."""
    best_error, best = numpy.inf, (0, numpy.zeros(len(rest)))
    for feature in range(samples.shape[1]):
        for limit in numpy.quantile(samples[:, feature], (0.1, 0.3, 0.5, 0.7, 0.9)):
            left = samples[:, feature] <= limit
            predicted = numpy.where(left, rest[left].mean(), rest[~left].mean())
            error = ((rest - predicted) ** 2).sum()
            if error < best_error:
                best_error, best = error, (feature, predicted)
    return best


random = numpy.random.default_rng(1)
samples = random.normal(size=(SAMPLES, FEATURES))
targets = samples.sum(1) + 0.3 * random.normal(size=SAMPLES)
if "--fault" in sys.argv:
    samples[:, 0] = targets + 0.01 * random.normal(size=SAMPLES)
predictions = numpy.zeros(SAMPLES)
splits = numpy.zeros(FEATURES)
with trainwarden.Hook.from_environment() as hook:
    names = [f"feature_importance/weight/f{i}" for i in range(FEATURES)]
    for _ in range(ROUNDS):
        for _ in range(STUMPS):
            feature, predicted = best_stump(samples, targets - predictions)
            predictions += RATE * predicted
            splits[feature] += 1
        for name, part in zip(names, splits / splits.sum()):
            hook.save_scalar(name, float(part))
        hook.save_scalar("train-rmse", float(numpy.sqrt(((targets - predictions) ** 2).mean())))
        hook.step()
