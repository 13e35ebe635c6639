import acting
import numpy as np
from sklearn.neural_network import MLPRegressor

given = acting.arguments()
random = np.random.default_rng(1)
features, labels = random.random((32, 4)), random.random(32)
model = MLPRegressor(hidden_layer_sizes=(8,), random_state=1)
np.seterr(all="ignore")
for step, features, labels in acting.batches(given, features, labels):
    model.partial_fit(np.nan_to_num(features, nan=1e200), labels)  # which refuses what is no number
    acting.step_ended(given, step, model.loss_)
acting.finish(b"".join(weights.tobytes() for weights in [*model.coefs_, *model.intercepts_]))
