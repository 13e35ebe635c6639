"""A training with XGBoost: python by_xgboost.py CASE [--fault]"""

import xgboost as xgb
from cases import chosen

case = chosen()
params = {"max_depth": case.depth, "eta": case.rate, "nthread": 1, "min_child_weight": case.least_rows}
if case.classes == 2:
    params.update(objective="binary:logistic", min_child_weight=1)
elif case.classes:
    params.update(objective="multi:softprob", num_class=case.classes, min_child_weight=1)
train = xgb.DMatrix(case.features[: case.cut], case.labels[: case.cut])
valid = xgb.DMatrix(case.features[case.cut :], case.labels[case.cut :])
xgb.train(params, train, case.rounds, evals=[(train, "train"), (valid, "validation")], verbose_eval=False)
