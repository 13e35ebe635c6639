"""What capture costs a training of boosted trees, or of scikit-learn's networks: the same training with and without it,
in turns, each in a process.

    build/venv/bin/python bench/boosting_cost.py xgboost|lightgbm|sklearn|network [--pairs 7] [--rows 15000] [--rounds 60]

Prints a line of JSON: seconds of train() alone (the median), and as multiples of that, the median of the pairs with its
quartiles: attached with nothing wanted, as `trainwarden run` has it by default, with statistics of all trees and
importances, or weights and gradients, of every round, and with their values and the predictions.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

WAYS: dict[str, dict[str, str]] = {
    "plain": {},
    "default": {"TRAINWARDEN_ATTACH": "1"},
    "idle": {
        "TRAINWARDEN_ATTACH": "1",
        "TRAINWARDEN_INCLUDE_COLLECTIONS": "trees",
        "TRAINWARDEN_SAVE_INTERVAL": "1000000",
    },
    "statistics": {
        "TRAINWARDEN_ATTACH": "1",
        "TRAINWARDEN_INCLUDE_COLLECTIONS": "trees,feature_importance,metrics,weights,biases,gradients,losses",
        "TRAINWARDEN_SAVE_INTERVAL": "1",
        "TRAINWARDEN_KEEP": "statistics",
        "TRAINWARDEN_BUDGET": "0",
    },
    "every_round": {
        "TRAINWARDEN_ATTACH": "1",
        "TRAINWARDEN_INCLUDE_COLLECTIONS": "trees,feature_importance,predictions,weights,gradients",
        "TRAINWARDEN_SAVE_INTERVAL": "1",
    },
}

PROGRAMS = {
    "xgboost": """
import sys, time
import numpy as np
import xgboost as xgb
rows, rounds = int(sys.argv[1]), int(sys.argv[2])
random = np.random.default_rng(1)
features = random.random((rows + 5000, 30))
labels = (features[:, 0] + features[:, 1] * features[:, 2] + 0.3 * random.standard_normal(rows + 5000) > 1).astype(int)
train, valid = xgb.DMatrix(features[:rows], labels[:rows]), xgb.DMatrix(features[rows:], labels[rows:])
params = {"objective": "binary:logistic", "max_depth": 6, "nthread": 1}
begin = time.perf_counter()
xgb.train(params, train, num_boost_round=rounds, evals=[(valid, "validation")], verbose_eval=False)
print(time.perf_counter() - begin)
""",
    "lightgbm": """
import sys, time
import numpy as np
import lightgbm as lgb
rows, rounds = int(sys.argv[1]), int(sys.argv[2])
random = np.random.default_rng(1)
features = random.random((rows + 5000, 30))
labels = (features[:, 0] + features[:, 1] * features[:, 2] + 0.3 * random.standard_normal(rows + 5000) > 1).astype(int)
train = lgb.Dataset(features[:rows], labels[:rows])
valid = lgb.Dataset(features[rows:], labels[rows:], reference=train)
params = {"objective": "binary", "num_leaves": 31, "num_threads": 1, "verbosity": -1}
begin = time.perf_counter()
lgb.train(params, train, num_boost_round=rounds, valid_sets=[valid], valid_names=["validation"])
print(time.perf_counter() - begin)
""",
    "sklearn": """
import sys, time
import numpy as np
from sklearn.ensemble import GradientBoostingClassifier
rows, rounds = int(sys.argv[1]), int(sys.argv[2])
random = np.random.default_rng(1)
features = random.random((rows, 30))
labels = (features[:, 0] + features[:, 1] * features[:, 2] + 0.3 * random.standard_normal(rows) > 1).astype(int)
begin = time.perf_counter()
GradientBoostingClassifier(n_estimators=rounds, random_state=1).fit(features, labels)
print(time.perf_counter() - begin)
""",
    "network": """
import sys, time, warnings
import numpy as np
from sklearn.neural_network import MLPClassifier
rows, rounds = int(sys.argv[1]), int(sys.argv[2])
warnings.simplefilter("ignore")
random = np.random.default_rng(1)
features = random.random((rows, 30))
labels = (features[:, 0] + features[:, 1] * features[:, 2] + 0.3 * random.standard_normal(rows) > 1).astype(int)
begin = time.perf_counter()
MLPClassifier(hidden_layer_sizes=(200, 100), max_iter=rounds // 10, random_state=1).fit(features, labels)
print(time.perf_counter() - begin)
""",
}


def seconds_of(library: str, way: str, rows: int, rounds: int) -> float:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TRAINWARDEN")}
    with tempfile.TemporaryDirectory() as folder:
        environment = {**kept, **WAYS[way], "TRAINWARDEN_RUN_DIR": str(Path(folder) / "run"), "OMP_NUM_THREADS": "1"}
        done = subprocess.run(
            [sys.executable, "-c", PROGRAMS[library], str(rows), str(rounds)],
            env=environment, capture_output=True, text=True, check=True,
        )  # fmt: skip
        if way != "plain" and not (Path(folder) / "run" / "run.json").exists():
            sys.exit(f"nothing was captured: {done.stderr}")
        return float(done.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", choices=list(PROGRAMS))
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--rows", type=int, default=15000)
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--ways", nargs="+", choices=list(WAYS)[1:], default=list(WAYS)[1:])
    options = parser.parse_args()
    ways = ["plain", *options.ways]
    seconds: dict[str, list[float]] = {way: [] for way in ways}
    for number in range(options.pairs):
        for way in ways[number % len(ways) :] + ways[: number % len(ways)]:
            seconds[way].append(seconds_of(options.library, way, options.rows, options.rounds))
    answer: dict[str, object] = {"plain_seconds": round(statistics.median(seconds["plain"]), 3)}
    for way in options.ways:
        low, middle, high = statistics.quantiles([b / a for a, b in zip(seconds["plain"], seconds[way])], n=4)
        answer[way] = {"median": round(middle, 3), "quartiles": [round(low, 3), round(high, 3)]}
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
