"""Data and parameters of trainings with a fault, and of the healthy twin of each. Nothing here knows Trainwarden."""

import sys
from dataclasses import dataclass, field

import numpy as np


@dataclass
class Case:
    """One training, as both frameworks can do it."""

    features: np.ndarray
    labels: np.ndarray
    rounds: int = 20
    depth: int = 3
    rate: float = 0.3
    classes: int = 0  # 0: a regression, 2: yes or no
    valid: float = 0.5  # the part that is not trained with
    least_rows: int = field(default=5)  # of a leaf

    @property
    def cut(self):
        return int(len(self.labels) * (1 - self.valid))


def additive(rows, noise):
    """Eight columns, and none that matters more than another."""
    random = np.random.default_rng(1)
    features = random.random((rows, 8))
    return features, features.sum(1) + noise * random.standard_normal(rows)


def deep_trees(fault):
    features, labels = additive(8000, 0.2)
    return Case(features, labels, rounds=8, depth=8 if fault else 3, least_rows=5 if fault else 50)


def leaking_column(fault):
    features, labels = additive(8000, 0.2)
    if fault:
        features[:, 0] = labels
    return Case(features, labels, rounds=20, rate=0.1, least_rows=50)


def no_learning(fault):
    features, labels = additive(8000, 0.2)
    return Case(features, labels, rounds=25, rate=1e-7 if fault else 0.1, least_rows=50)


def learnt_by_heart(fault):
    features, labels = additive(400 if fault else 8000, 1.0 if fault else 0.2)
    return Case(features, labels, rounds=12, rate=0.3 if fault else 0.2, depth=4 if fault else 3, least_rows=1 if fault else 50)


def trained_too_long(fault):
    features, labels = additive(8000, 0.2)
    return Case(features, labels, rounds=60 if fault else 10, least_rows=50)


def rare_class(fault):
    random = np.random.default_rng(2)
    features = random.random((4000, 3))
    labels = (features[:, 0] > (0.98 if fault else 0.6)).astype(int)
    return Case(features, labels, rounds=8, depth=2, classes=2)


def alike_classes(fault):
    random = np.random.default_rng(3)
    labels = np.arange(3000) % 3
    features = random.random((3000, 3))
    seen = np.where(labels == 2, 1, labels) if fault else labels
    features[:, 0] = seen + 0.3 * random.random(3000)
    return Case(features, labels, rounds=8, depth=2, classes=3)


def chosen():
    """python PROGRAM.py CASE [--fault]"""
    return globals()[sys.argv[1]]("--fault" in sys.argv)
