"""xgboost.train, in the ways that are named on the command line."""

import sys

import numpy as np
import xgboost as xgb
from data import finish, matrices

way = sys.argv[1]
params = {"objective": "binary:logistic", "eval_metric": ["auc", "logloss"], "max_depth": 3, "eta": 0.3, "nthread": 1}
train, valid = matrices()
rounds, more = 10, {"evals": [(train, "train"), (valid, "validation")], "verbose_eval": False}

if way == "no_metrics":
    more = {}
    del params["eval_metric"]
elif way == "dart":
    params["booster"] = "dart"
elif way == "linear":
    params["booster"] = "gblinear"
elif way == "stops_early":
    rounds, more["early_stopping_rounds"] = 50, 2
    params["eta"] = 1.0
elif way == "classes":
    train, valid = matrices(classes=3)
    params.update(objective="multi:softprob", num_class=3, eval_metric="mlogloss")
    more["evals"] = [(train, "train"), (valid, "validation")]
elif way == "own_objective":

    def squared(predictions, data):
        return predictions - data.get_label(), np.ones_like(predictions)

    del params["objective"]
    params["eval_metric"] = "rmse"
    more["obj"] = squared
elif way == "forest":
    params["num_parallel_tree"] = 3
elif way == "continues":
    more["xgb_model"] = xgb.train(params, train, num_boost_round=4, verbose_eval=False)
    rounds = 6
elif way == "fails":

    class Failing(xgb.callback.TrainingCallback):
        def after_iteration(self, model, epoch, evals_log):
            if epoch == 3:
                raise RuntimeError("a callback of the program's own")
            return False

    more["callbacks"] = [Failing()]

finish(xgb.train(params, train, num_boost_round=rounds, **more))
