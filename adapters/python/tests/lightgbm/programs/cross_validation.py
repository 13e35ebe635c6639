"""lightgbm.cv: three boosters side by side."""

import json

import lightgbm as lgb
from data import PARAMS, datasets

train, _ = datasets()
print(json.dumps(lgb.cv(PARAMS, train, num_boost_round=4, nfold=3, seed=1)))
