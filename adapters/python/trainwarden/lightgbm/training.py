"""LightGBMTraining: what LightGBM tells of one of its trainings."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Optional

import numpy as np
from lightgbm import basic

from ..boosting.parameters import as_given, items_of
from ..boosting.training import MAX_EXPLAINED_ROWS, Column, Metric, parts_of_whole
from .parameters import effective, rounds_of
from .trees import COLUMNS, columns_of

# "split" is what XGBoost calls "weight": it is kept under both, as rules that know trees ask for that of XGBoost.
_KINDS = {"split": "split", "weight": "split", "gain": "gain"}


_LEAVES = ("num_leaves", "num_leaf", "max_leaves", "max_leaf", "max_leaf_nodes")
_MAX_KEPT_COLUMNS = 4096


class LightGBMTraining:
    """See boosting/training.py. A model is a Booster, or the CVBooster of lightgbm.cv."""

    library = "lightgbm"
    importance_kinds: tuple[str, ...] = tuple(_KINDS)
    tree_columns: tuple[str, ...] = COLUMNS
    explains = True

    def __init__(
        self, params: Any, train_set: Any = None, valid_sets: Any = None, rounds: Optional[int] = None
    ) -> None:
        """`rounds`: of a call of train(), where the parameters do not say it; None: of a loop of the program's own."""
        self._params = params
        self._rounds = rounds
        self._first_rows = _first_rows(train_set, valid_sets)

    def rounds(self, model: Any) -> Optional[int]:
        return 0 if self.is_packed(model) else int(model.current_iteration())

    def rounds_to_come(self, model: Any) -> Optional[int]:
        return None if self._rounds is None else rounds_of(self._params, self._rounds)

    def parameters(self, model: Any) -> dict[str, Any]:
        return effective(self._params, model.boosters[0] if self.is_packed(model) else model)

    def place(self) -> Optional[tuple[int, int]]:
        return None

    def is_packed(self, model: Any) -> bool:
        return hasattr(model, "boosters")

    def feature_names(self, model: Any) -> list[str]:
        return list(model.feature_name())

    def own_metrics(self, model: Any) -> list[Metric]:
        with _as_it_was(model):
            return list(metrics_of(model.eval_train()))

    def importances(self, model: Any, features: list[str]) -> dict[str, float]:
        found: dict[str, float] = {}
        for kind, asked in _KINDS.items():
            scores = model.feature_importance(importance_type=asked, iteration=-1)
            found.update(parts_of_whole(dict(zip(features, map(float, scores))), features, kind))
        return found

    def last_trees(self, model: Any, most: Optional[int] = None) -> Optional[dict[str, Column]]:
        if most is not None and _most_nodes(model) > most:
            return None
        dump = model.dump_model(num_iteration=1, start_iteration=model.current_iteration() - 1)
        found = columns_of(dump["tree_info"], dump["feature_names"])
        return {f"trees/{name}": column for name, column in found.items()}

    def size_of_predictions(self, model: Any) -> int:
        return int(self._set_judged(model).num_data() * model.num_model_per_iteration())

    def predictions(self, model: Any) -> Any:
        """As the booster has them of its sets, by which it computes its metrics; the rows themselves may be gone."""
        number = self._judged(model)
        if number == 0 and self._is_dart(model):
            raise ValueError("of the data that are trained with, dart would drop trees for that")
        with _as_it_was(model):
            return np.array(model._Booster__inner_predict(data_idx=number))

    def labels(self, model: Any) -> Any:
        labels = self._set_judged(model).get_field("label")  # of get_label() it would keep a copy
        if labels is None:
            raise ValueError("the data have none")
        return np.asarray(labels)

    def contributions(self, model: Any, rows: int) -> Any:
        """By a copy: LightGBM 4.7 crashes when it explains a booster, trains it on and explains it again."""
        if self._first_rows is None:
            raise ValueError("LightGBM has freed the rows before the training began")
        verbosity = _verbosity(model.params)  # it is the library's, and the last who predicts has set it
        copy = basic.Booster(model_str=model.model_to_string(num_iteration=-1))
        shares = np.asarray(copy.predict(self._first_rows[:rows], pred_contrib=True, verbosity=verbosity))
        classes = model.num_model_per_iteration()
        return shares if classes == 1 else shares.reshape(len(shares), classes, -1)

    def _judged(self, model: Any) -> int:
        """LightGBM's number of the set whose predictions are kept: 0 is what is trained with."""
        return len(model.valid_sets)

    def _set_judged(self, model: Any) -> Any:
        number = self._judged(model)
        return model.valid_sets[number - 1] if number else model.train_set

    def _is_dart(self, model: Any) -> bool:
        if not issubclass(type(model.params), dict):
            return effective(None, model).get("boosting") == "dart"
        given = {**as_given(model.params), **as_given(self._params)}
        return any(given.get(name) == "dart" for name in ("boosting", "boosting_type", "boost"))


@contextmanager
def _as_it_was(model: Any) -> Iterator[None]:
    """A booster keeps what it was asked for, an array of all rows too, and pickles it."""
    attributes = vars(model)
    before = dict(attributes)
    lists = [(value, list(value)) for value in before.values() if type(value) is list]
    try:
        yield
    finally:
        for name in [name for name in attributes if name not in before]:
            del attributes[name]
        attributes.update(before)
        for value, items in lists:
            value[:] = items


def _verbosity(params: Any) -> Any:
    given = as_given(params)
    return next((given[name] for name in ("verbosity", "verbose") if name in given), 1)


def _most_nodes(model: Any) -> int:
    """The trees of a round have no more: parameters say how many leaves there may be, by one of many names."""
    given = as_given(model.params)
    leaves = [given[name] for name in _LEAVES if type(given.get(name)) is int]
    return 2 * max(leaves, default=31) * int(model.num_model_per_iteration())


def _first_rows(train_set: Any, valid_sets: Any) -> Any:
    """They are of the set whose predictions are kept, to be explained: LightGBM frees the rows when it has made bins of
    them. None of what a file holds, a list, or a container of the program's own, nor of very many columns."""
    given = items_of(valid_sets)
    valid = [valid_sets] if given is None else given
    judged = [each for each in valid if each is not None and each is not train_set] or [train_set]
    data: Any = getattr(judged[-1], "data", None)
    if not _is_known(data) or len(data.shape) != 2 or data.shape[1] > _MAX_KEPT_COLUMNS:
        return None
    return data[:MAX_EXPLAINED_ROWS].copy()


def _is_known(data: Any) -> bool:
    """An array of NumPy, a matrix of SciPy, a frame of pandas: those that the program has imported."""
    known: list[Any] = [np.ndarray]
    for module, names in (("scipy.sparse", ("csr_matrix", "csr_array")), ("pandas", ("DataFrame",))):
        known += [getattr(sys.modules[module], name, None) for name in names if module in sys.modules]
    return type(data) in known


def metrics_of(results: Iterable[Any]) -> Iterator[Metric]:
    """Of what LightGBM's callbacks and evaluations get; before 4.7 plain tuples, of a cross-validation with "cv_agg" in
    place of the set's name."""
    for result in results:
        if hasattr(result, "dataset_name"):
            data, name, value = result.dataset_name, result.metric_name, result.metric_value
            is_higher_better, deviation = result.maximize, result.metric_std_dev
        else:
            data, name, value, is_higher_better = result[:4]
            deviation = result[4] if len(result) > 4 else None
            if data == "cv_agg":
                data, _, name = name.partition(" ")
        spread = None if deviation is None else float(deviation)
        yield Metric(data, name, float(value), not is_higher_better, spread)
