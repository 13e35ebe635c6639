"""Trainings whose arguments are of the program's own kinds, or that look at what became of their model and data."""

import gc
import pickle
import sys
import warnings
import weakref

import numpy as np
import xgboost as xgb
from data import finish, matrices

PARAMS = {"objective": "binary:logistic", "max_depth": 3, "nthread": 1}
train, valid = matrices()


class Saying(xgb.callback.TrainingCallback):
    def __getattr__(self, name):
        print("asked for", name)
        raise AttributeError(name)

    def after_iteration(self, model, epoch, evals_log):
        print("round", epoch, sorted(evals_log))
        return False


def read_once():
    """Iterators, which are empty for whoever reads them a second time."""
    results = {}
    callbacks = (each for each in [Saying()])
    booster = xgb.train(
        PARAMS, train, 4, evals=iter([(valid, "v")]), evals_result=results, callbacks=callbacks, verbose_eval=False
    )
    print(results)
    finish(booster)


def own_kinds():
    """Containers that count how often they are asked, and values that tell when they are spelt."""
    asked = []

    class Params(dict):
        def items(self):
            asked.append("items")
            return super().items()

    class Evals(list):
        def __iter__(self):
            asked.append("iter")
            return super().__iter__()

        def __len__(self):
            asked.append("len")
            return super().__len__()

    class Depth:
        def __str__(self):
            asked.append("depth")
            return "2"

    class Objective:
        def __call__(self, said, data):
            said = 1 / (1 + np.exp(-said))
            return said - data.get_label(), said * (1 - said)

        def __repr__(self):
            asked.append("objective")
            return "objective"

    finish(xgb.train(Params(PARAMS), train, 4, evals=Evals([(valid, "v")]), verbose_eval=False))
    finish(xgb.train({**PARAMS, "max_depth": Depth()}, train, 4))
    finish(xgb.train(PARAMS, train, 4, obj=Objective()))
    print(asked)


def evaluated_later():
    """A loop that evaluates nothing: the metrics of its model are those that it asks for later."""
    booster = xgb.Booster(PARAMS, [train, valid])
    for number in range(5):
        booster.update(train, number)
    print(len(pickle.dumps(booster)), len(booster.save_config()))
    booster.set_param({"eval_metric": "error"})
    print(booster.eval(valid))
    finish(booster)


def warns():
    """XGBoost does, when there is no such parameter: at the line, the program's or its own, that trains first."""
    warnings.simplefilter("always")
    with warnings.catch_warnings(record=True) as caught:
        xgb.train({**PARAMS, "no_such": 1}, train, 3)
        booster = xgb.Booster({**PARAMS, "none_such": 1}, [train])
        for number in range(3):
            booster.update(train, number)
    for each in caught:
        print(each.category.__name__, each.filename, each.lineno)
    finish(booster)


def lets_go():
    """Data of a loop of its own, which nobody has any more behind it."""

    class Own(xgb.DMatrix):
        pass

    parts = [Own(np.arange(40.0).reshape(20, 2) + number, np.arange(20.0)) for number in range(3)]
    booster = xgb.Booster({"nthread": 1}, parts)
    for number, part in enumerate(parts):
        booster.update(part, number)
    alive = [weakref.ref(each) for each in parts]
    finish(booster.copy())
    del booster, parts, part
    gc.collect()
    print([each() is None for each in alive])


globals()[sys.argv[1]]()
