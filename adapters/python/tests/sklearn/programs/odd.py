"""Linear models whose methods are the program's own, which nobody but scikit-learn and the program calls."""

import hashlib
import pickle

import numpy as np
from sklearn.linear_model import SGDClassifier, SGDRegressor

rows = np.random.RandomState(3).rand(300, 5)
labels = (rows[:, 0] > 0.5).astype(int)
asked = []


class Classifier(SGDClassifier):
    def decision_function(self, X):
        asked.append("decision_function")
        return super().decision_function(X)

    def get_params(self, deep=True):
        asked.append("get_params")
        return super().get_params(deep)


class Regressor(SGDRegressor):
    def predict(self, X):
        asked.append("predict")
        return super().predict(X)

    def __repr__(self, *args):
        asked.append("repr")
        return "regressor"


np.seterrcall(lambda kind, flag: asked.append(kind))
np.seterr(all="call")
classifier, regressor = Classifier(random_state=0), Regressor(random_state=0)
for _ in range(3):
    classifier.partial_fit(rows, labels, classes=[0, 1])
    regressor.partial_fit(rows, rows[:, 0] * 1e200)
for each in (classifier, regressor):
    print(hashlib.sha256(pickle.dumps(each)).hexdigest(), sorted(vars(each)))
print(asked)
