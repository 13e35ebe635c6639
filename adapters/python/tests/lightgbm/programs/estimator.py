"""The estimators of scikit-learn's kind."""

from data import finish, samples
from lightgbm import LGBMClassifier, LGBMRanker, LGBMRegressor

features, labels = samples()
train, valid = slice(0, 200), slice(200, 300)
for more in ({"eval_set": [(features[valid], labels[valid])]}, {}):
    model = LGBMClassifier(n_estimators=5, num_leaves=5, n_jobs=1, verbosity=-1, random_state=1)
    model.fit(features[train], labels[train], **more)
    finish(model.booster_)
model = LGBMRegressor(n_estimators=4, num_leaves=5, n_jobs=1, verbosity=-1).fit(features[train], features[train, 0])
finish(model.booster_)
model = LGBMRanker(n_estimators=3, num_leaves=5, n_jobs=1, verbosity=-1)
model.fit(features[train], labels[train], group=[20] * 10)
finish(model.booster_)
