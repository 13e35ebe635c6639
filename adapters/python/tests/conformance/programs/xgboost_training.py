import acting
import numpy as np
import xgboost as xgb

given = acting.arguments()


class Ended(xgb.callback.TrainingCallback):
    def after_iteration(self, model, epoch, evals_log):
        acting.step_ended(given, epoch, evals_log["train"]["rmse"][-1])
        return False


random = np.random.default_rng(1)
data = xgb.DMatrix(random.random((64, 4)), random.random(64))
booster = xgb.train(
    {"max_depth": 2, "nthread": 1}, data, given.steps, evals=[(data, "train")], verbose_eval=False, callbacks=[Ended()]
)
acting.finish(bytes(booster.save_raw("ubj")))
