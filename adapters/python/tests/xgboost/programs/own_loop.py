"""A loop of the program's own over Booster.update."""

import xgboost as xgb
from data import finish, matrices

train, valid = matrices()
booster = xgb.Booster({"objective": "binary:logistic", "max_depth": 3, "nthread": 1}, [train, valid])
for round_ in range(6):
    booster.update(train, round_)
finish(booster)
