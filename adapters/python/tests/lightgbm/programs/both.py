"""One process that trains with XGBoost, then with LightGBM."""

import lightgbm as lgb
import xgboost as xgb
from data import PARAMS, datasets, finish, samples

features, labels = samples()
xgb.train({"nthread": 1}, xgb.DMatrix(features, labels), num_boost_round=2)
finish(lgb.train(PARAMS, datasets()[0], num_boost_round=3))
