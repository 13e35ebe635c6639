"""What the programs train on."""

import hashlib
import sys

import lightgbm as lgb
import numpy as np

NAMES = ["age", "income", "debt", "rooms", "visits", "noise"]
PARAMS = {"objective": "binary", "num_leaves": 7, "num_threads": 1, "verbosity": -1, "deterministic": True, "seed": 3}


def samples(classes=2):
    rng = np.random.RandomState(4)
    features = rng.rand(300, 6)
    score = features[:, 0] + features[:, 1] * 2 + 0.2 * rng.randn(300)
    labels = np.digitize(score, np.quantile(score, np.linspace(0, 1, classes + 1)[1:-1]))
    return features, labels


def datasets(classes=2, **more):
    features, labels = samples(classes)
    train = lgb.Dataset(features[:200], labels[:200], feature_name=NAMES, **more)
    return train, lgb.Dataset(features[200:], labels[200:], reference=train, feature_name=NAMES, **more)


def finish(booster):
    """The model's text: it must be the same whether or not somebody watches."""
    text = booster.model_to_string().encode()
    print("model", hashlib.sha256(text).hexdigest(), booster.best_iteration, booster.current_iteration())
    sys.stdout.flush()
