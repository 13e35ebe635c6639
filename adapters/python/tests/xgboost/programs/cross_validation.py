"""xgboost.cv: three boosters side by side."""

import xgboost as xgb
from data import matrices

train, _ = matrices()
history = xgb.cv({"objective": "binary:logistic", "nthread": 1}, train, num_boost_round=4, nfold=3, seed=1, as_pandas=False)
print({name: [round(float(value), 6) for value in values] for name, values in history.items()})
