"""Who repays a loan? Boosted trees on made-up applications, in which one column gives the answer away if asked to.

    python loans.py [--leak]
"""

import argparse

import numpy as np
import xgboost as xgb

NAMES = ["income", "debt", "age", "rooms", "visits", "days_overdue"]


def applications(count: int, seed: int, leak: bool) -> xgb.DMatrix:
    random = np.random.default_rng(seed)
    columns = random.random((count, len(NAMES)))
    repays = (columns[:, 0] - columns[:, 1] + 0.3 * random.standard_normal(count) > 0).astype(int)
    if leak:  # known only when the loan has run out
        columns[:, 5] = np.where(repays == 1, 0, 0.1 + columns[:, 5])
    return xgb.DMatrix(columns, repays, feature_names=NAMES)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--leak", action="store_true")
    leak = parser.parse_args().leak
    train, valid = applications(4000, 1, leak), applications(1000, 2, leak)
    params = {"objective": "binary:logistic", "eval_metric": ["auc", "logloss"], "max_depth": 4, "eta": 0.1}
    xgb.train(params, train, num_boost_round=200, evals=[(train, "train"), (valid, "validation")], verbose_eval=50)


if __name__ == "__main__":
    main()
