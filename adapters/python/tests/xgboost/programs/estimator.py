"""The estimator of scikit-learn's kind, twice: with a set for validation and without."""

from data import finish, samples
from xgboost import XGBClassifier

features, labels = samples()
for more in ({"eval_set": [(features[200:], labels[200:])]}, {}):
    model = XGBClassifier(n_estimators=5, max_depth=2, n_jobs=1)
    model.fit(features[:200], labels[:200], verbose=False, **more)
    finish(model.get_booster())
