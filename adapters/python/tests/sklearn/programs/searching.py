"""A search over parameters: two of them, three folds, and the best on all."""

import numpy as np
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.model_selection import GridSearchCV

random = np.random.RandomState(1)
features, labels = random.rand(60, 4), random.rand(60)
search = GridSearchCV(GradientBoostingRegressor(n_estimators=3, random_state=1), {"max_depth": [1, 2]}, cv=3)
print(search.fit(features, labels).best_params_)
