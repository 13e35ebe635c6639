"""Trainings whose arguments are of the program's own kinds, or that look at what became of their model."""

import hashlib
import pickle
import sys

import lightgbm as lgb
import numpy as np

PARAMS = {"objective": "binary", "num_leaves": 7, "num_threads": 1, "verbosity": -1}
rows = np.random.RandomState(4).rand(300, 6)
labels = (rows[:, 0] + rows[:, 1] > 1).astype(int)


def finish(booster):
    print(hashlib.sha256(booster.model_to_string(num_iteration=-1).encode()).hexdigest(), booster.current_iteration())


def own_kinds():
    """Containers that count how often they are asked, and values that tell when they are spelt."""
    asked = []

    class Params(dict):
        def get(self, key, default=None):
            asked.append("get")
            return super().get(key, default)

        def __iter__(self):
            asked.append("iter")
            return super().__iter__()

    class Sets(list):
        def __iter__(self):
            asked.append("sets")
            return super().__iter__()

    class Rows(np.ndarray):
        def __getitem__(self, index):
            asked.append("rows")
            return super().__getitem__(index)

    class Objective:
        def __call__(self, said, data):
            said = 1 / (1 + np.exp(-said))
            return said - data.get_label(), said * (1 - said)

        def __repr__(self):
            asked.append("objective")
            return "objective"

    train = lgb.Dataset(rows.view(Rows), labels)
    finish(lgb.train(Params(PARAMS), train, 4, valid_sets=Sets([train.create_valid(rows[:50], labels[:50])])))
    finish(lgb.train({**PARAMS, "objective": Objective()}, lgb.Dataset(rows, labels), 4))
    print(asked)


def pickled():
    """A loop that evaluates nothing: nothing is kept in its model for that."""
    booster = lgb.Booster(PARAMS, lgb.Dataset(rows, labels))
    for _ in range(5):
        booster.update()
    print(hashlib.sha256(pickle.dumps(booster)).hexdigest(), sorted(vars(booster)))
    finish(booster)


globals()[sys.argv[1]]()
