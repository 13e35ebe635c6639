"""A training with LightGBM: python by_lightgbm.py CASE [--fault]"""

import lightgbm as lgb
from cases import chosen

case = chosen()
params = {"max_depth": case.depth, "num_leaves": 2**case.depth, "learning_rate": case.rate, "num_threads": 1}
params.update(min_data_in_leaf=case.least_rows, verbosity=-1, metric="rmse")
if case.classes == 2:
    params.update(objective="binary", metric="binary_logloss")
elif case.classes:
    params.update(objective="multiclass", num_class=case.classes, metric="multi_logloss")
train = lgb.Dataset(case.features[: case.cut], case.labels[: case.cut])
valid = lgb.Dataset(case.features[case.cut :], case.labels[case.cut :], reference=train)
lgb.train(params, train, case.rounds, valid_sets=[train, valid], valid_names=["train", "validation"])
