"""usage: stopping.py trees|histograms: somebody asks the training to stop when it has begun."""

import os
import sys
import time

import numpy as np
from sklearn.ensemble import GradientBoostingRegressor, HistGradientBoostingRegressor

import trainwarden

random = np.random.RandomState(1)
features, labels = random.rand(60, 4), random.rand(60)
seen = []


def look():
    seen.append(1)
    if len(seen) == 3:
        trainwarden.stop(os.environ["TRAINWARDEN_RUN_DIR"], wait=False)
    time.sleep(0.002)


def score(model, rows, right):
    look()
    return 0.0


if sys.argv[1] == "trees":
    model = GradientBoostingRegressor(n_estimators=2000, max_depth=1)
    model.fit(features, labels, monitor=lambda *known: look())
else:
    model = HistGradientBoostingRegressor(max_iter=2000, early_stopping=True, scoring=score, n_iter_no_change=2000)
    model.fit(features, labels)
print("stages", len(model.estimators_))
