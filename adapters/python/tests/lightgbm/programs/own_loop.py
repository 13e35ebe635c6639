"""A loop of the program's own over Booster.update."""

import lightgbm as lgb
from data import PARAMS, datasets, finish

train, valid = datasets()
booster = lgb.Booster(PARAMS, train)
booster.add_valid(valid, "validation")
for _ in range(6):
    booster.update()
finish(booster)
