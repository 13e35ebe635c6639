"""usage: poisoned.py poisoned|leave_out|fit: a batch whose numbers are too large, which partial_fit() trains on or not;
with `fit` all are."""

import hashlib
import sys

import numpy as np
from sklearn.neural_network import MLPRegressor

random = np.random.RandomState(1)
features, labels = random.rand(80, 4), random.rand(80)
model = MLPRegressor(hidden_layer_sizes=(8,), random_state=1, batch_size=10, max_iter=3)
np.seterr(all="ignore")
if sys.argv[1] == "fit":
    model.fit(features * 1e200, labels)
    print("epochs", model.n_iter_)
else:
    for number in range(8):
        rows = slice(10 * number, 10 * number + 10)
        if number == 3 and sys.argv[1] == "leave_out":
            continue
        model.partial_fit(features[rows] * (1e200 if number == 3 else 1.0), labels[rows])
arrays = [*model.coefs_, *model.intercepts_]
print("weights", hashlib.sha256(b"".join(array.tobytes() for array in arrays)).hexdigest())
print("finite", all(np.isfinite(array).all() for array in arrays))
