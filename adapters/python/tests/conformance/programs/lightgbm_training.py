import acting
import lightgbm as lgb
import numpy as np

given = acting.arguments()


def ended(env):
    acting.step_ended(given, env.iteration, env.evaluation_result_list[0][2])


random = np.random.default_rng(1)
data = lgb.Dataset(random.random((64, 4)), random.random(64))
params = {"metric": "rmse", "num_leaves": 4, "min_data_in_leaf": 4, "num_threads": 1, "verbosity": -1}
booster = lgb.train(params, data, given.steps, valid_sets=[data], valid_names=["train"], callbacks=[ended])
acting.finish(booster.model_to_string().encode())
