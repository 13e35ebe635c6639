"""lightgbm.train, in the ways that are named on the command line."""

import sys

import lightgbm as lgb
import numpy as np
from data import PARAMS, datasets, finish

way = sys.argv[1]
params = {**PARAMS, "metric": ["auc", "binary_logloss"], "max_depth": 3}
train, valid = datasets()
rounds, more = 10, {"valid_sets": [train, valid], "valid_names": ["train", "validation"]}

if way == "no_metrics":
    more = {}
    del params["metric"]
elif way == "unnamed":
    del more["valid_names"]
elif way == "dart":
    params.update(boosting="dart", drop_rate=0.5)
elif way == "dart_unvalidated":
    params.update(boosting="dart", drop_rate=0.5)
    more = {}
elif way == "random_forest":
    params.update(boosting="rf", bagging_freq=1, bagging_fraction=0.6, feature_fraction=0.8)
elif way == "goss":
    params.update(data_sample_strategy="goss")
elif way == "stops_early":
    rounds, params["learning_rate"] = 60, 1.0
    more["callbacks"] = [lgb.early_stopping(2, verbose=False)]
elif way == "stops_early_by_parameter":
    rounds = 60
    params.update(learning_rate=1.0, early_stopping_round=2)
elif way == "classes":
    train, valid = datasets(classes=3)
    params.update(objective="multiclass", num_class=3, metric="multi_logloss")
    more["valid_sets"] = [train, valid]
elif way == "own_objective":

    def squared(predictions, data):
        return predictions - data.get_label(), np.ones_like(predictions)

    params.update(objective=squared, metric="l2")
elif way == "own_metric":

    def offset(predictions, data):
        return "offset", float(np.mean(predictions - data.get_label())), False

    more["feval"] = offset
elif way == "categories":
    rng = np.random.RandomState(1)
    features = np.column_stack([rng.randint(0, 8, 300), rng.rand(300)])
    features[::9, 1] = np.nan
    labels = (features[:, 0] % 3 == 0).astype(int)
    train = lgb.Dataset(features, labels, categorical_feature=[0])
    more = {"valid_sets": [train]}
elif way == "verbose":
    del params["verbosity"]
elif way == "made_before":
    train.construct()
    valid.construct()
elif way == "continues":
    more["init_model"] = lgb.train(params, train, num_boost_round=4)
    train, valid = datasets()
    more["valid_sets"] = [train, valid]
    rounds = 6
elif way == "callbacks":
    kept = {}
    more["callbacks"] = [
        lgb.record_evaluation(kept),
        lgb.log_evaluation(3),
        lgb.reset_parameter(learning_rate=lambda round_: 0.2 * 0.9**round_),
    ]
elif way == "fails":

    def fail(env):
        if env.iteration == 3:
            raise RuntimeError("a callback of the program's own")

    more["callbacks"] = [fail]

finish(lgb.train(params, train, num_boost_round=rounds, **more))
if way == "callbacks":
    import json

    print(json.dumps(kept))
