"""Trains in a way that the command line names, and says what it got: the bytes of the model, and what it prints."""

import hashlib
import pickle
import sys
import warnings

import numpy as np
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.linear_model import Perceptron, SGDClassifier, SGDRegressor
from sklearn.neural_network import MLPClassifier, MLPRegressor

way = sys.argv[1]
warnings.simplefilter("ignore")
random = np.random.RandomState(1)
features = random.rand(200, 5)
numbers = features @ [1.0, -2.0, 0.5, 3.0, 0.0] + 0.1 * random.randn(200)
kinds = np.digitize(numbers, [0.5, 1.2])
network = {"hidden_layer_sizes": (8, 4), "batch_size": 40, "max_iter": 4, "random_state": 1}
trees = {"n_estimators": 6, "max_depth": 2, "random_state": 1}
histograms = {"max_iter": 6, "max_leaf_nodes": 5, "random_state": 1}
stopped = []
WAYS = {
    "network": lambda: MLPClassifier(**network).fit(features, kinds),
    "sgd": lambda: MLPRegressor(**network, solver="sgd", momentum=0, early_stopping=True).fit(features, numbers),
    "lbfgs": lambda: MLPRegressor(**network, solver="lbfgs").fit(features, numbers),
    "linear": lambda: SGDClassifier(random_state=1, max_iter=5, tol=None).fit(features, kinds),
    "trees": lambda: GradientBoostingClassifier(**trees).fit(features, kinds),
    "subsampled": lambda: GradientBoostingRegressor(**trees, subsample=0.5, n_iter_no_change=9).fit(features, numbers),
    "monitored": lambda: GradientBoostingRegressor(**trees).fit(
        features, numbers, monitor=lambda stage, model, known: stopped.append(stage) or stage == 3
    ),
    "histograms": lambda: HistGradientBoostingClassifier(**histograms).fit(features, kinds),
    "judged": lambda: HistGradientBoostingRegressor(**histograms, early_stopping=True).fit(features, numbers),
}


def bit_by_bit(model, **classes):
    for begin in range(0, 200, 40):
        model.partial_fit(features[begin : begin + 40], kinds[begin : begin + 40], **classes)
        if hasattr(model, "loss_"):
            print("loss", repr(float(model.loss_)))
    return model


WAYS["network_by_parts"] = lambda: bit_by_bit(MLPClassifier(**network), classes=[0, 1, 2])
WAYS["linear_by_parts"] = lambda: bit_by_bit(SGDClassifier(loss="log_loss", random_state=1), classes=[0, 1, 2])
WAYS["perceptron_by_parts"] = lambda: bit_by_bit(Perceptron(random_state=1), classes=[0, 1, 2])
WAYS["regressor_by_parts"] = lambda: bit_by_bit(SGDRegressor(loss="huber", random_state=1))


def warm_trees():
    model = GradientBoostingRegressor(**trees, warm_start=True).fit(features, numbers)
    return model.set_params(n_estimators=9).fit(features, numbers)


WAYS["warm"] = warm_trees
model = WAYS[way]()
if way == "linear_by_parts":
    from sklearn.metrics import log_loss

    margins = model.decision_function(features[-40:])
    each = [log_loss(kinds[-40:] == kind, 1 / (1 + np.exp(-margins[:, kind])), labels=[0, 1]) for kind in range(3)]
    print("last loss", float(np.mean(each)))
print("model", hashlib.sha256(pickle.dumps(model)).hexdigest())
for name in ("loss_curve_", "train_score_", "validation_scores_", "validation_score_"):
    if getattr(model, name, None) is not None:
        print(name, [float(value) for value in getattr(model, name)])
if hasattr(model, "feature_importances_"):
    print("importances", [float(value) for value in model.feature_importances_])
print("stopped", stopped, "score", model.score(features, kinds if hasattr(model, "classes_") else numbers))
