"""Collection: a named set of tensors that are saved and looked at together."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Optional, Union

from ..exceptions import SMDebugTypeError, SMDebugValueError
from .modes import ModeKeys
from .reduction_config import ReductionConfig
from .save_config import SaveConfig, SaveConfigMode

ALLOWED_PARAMS = ["name", "include_regex", "reduction_config", "save_config", "tensor_names", "save_histogram"]


class CollectionKeys:
    """Names of built-in collections, over all frameworks."""

    DEFAULT = "default"
    ALL = "all"
    INPUTS = "inputs"
    OUTPUTS = "outputs"
    WEIGHTS = "weights"
    GRADIENTS = "gradients"
    LOSSES = "losses"
    BIASES = "biases"
    LAYERS = "layers"
    SM_METRICS = "sm_metrics"
    OPTIMIZER_VARIABLES = "optimizer_variables"
    TENSORFLOW_SUMMARIES = "tensorflow_summaries"
    METRICS = "metrics"
    HYPERPARAMETERS = "hyperparameters"
    PREDICTIONS = "predictions"
    LABELS = "labels"
    FEATURE_IMPORTANCE = "feature_importance"
    AVERAGE_SHAP = "average_shap"
    FULL_SHAP = "full_shap"
    TREES = "trees"


_K = CollectionKeys
_EVERYWHERE = {_K.ALL, _K.DEFAULT}
_OF_NETWORKS = {_K.WEIGHTS, _K.BIASES, _K.GRADIENTS, _K.LOSSES}

SUMMARIES_COLLECTIONS = {_K.TENSORFLOW_SUMMARIES}
SCALAR_COLLECTIONS = {_K.LOSSES, _K.METRICS, _K.FEATURE_IMPORTANCE, _K.AVERAGE_SHAP, _K.SM_METRICS}
# Their scalars also go to the metrics of the platform.
SM_METRIC_COLLECTIONS = {_K.LOSSES, _K.METRICS, _K.SM_METRICS}
# Always saved whole, and without a histogram.
NON_REDUCTION_COLLECTIONS = SCALAR_COLLECTIONS | SUMMARIES_COLLECTIONS
NON_HISTOGRAM_COLLECTIONS = SCALAR_COLLECTIONS | SUMMARIES_COLLECTIONS

# What each framework has without being asked.
DEFAULT_PYTORCH_COLLECTIONS = _EVERYWHERE | _OF_NETWORKS
DEFAULT_MXNET_COLLECTIONS = _EVERYWHERE | _OF_NETWORKS
DEFAULT_TF_COLLECTIONS = (
    _EVERYWHERE | _OF_NETWORKS | {_K.METRICS, _K.INPUTS, _K.OUTPUTS, _K.LAYERS, _K.SM_METRICS, _K.OPTIMIZER_VARIABLES}
)
DEFAULT_XGBOOST_COLLECTIONS = _EVERYWHERE | {
    _K.HYPERPARAMETERS,
    _K.PREDICTIONS,
    _K.LABELS,
    _K.FEATURE_IMPORTANCE,
    _K.AVERAGE_SHAP,
    _K.FULL_SHAP,
    _K.TREES,
}


class Collection:
    """Tensors whose names are in tensor_names, or in whose names a pattern of include_regex is found anywhere.

    Arguments:
        reduction_config, save_config: None: the hook's. A save_config may also be a dict of SaveConfigModes by mode.
        save_histogram: with TensorBoard on, also a histogram of each tensor.

    Raises:
        SMDebugTypeError: an argument of a wrong type.
    """

    def __init__(
        self,
        name: str,
        include_regex: Union[str, list[str], None] = None,
        tensor_names: Union[list[str], set[str], None] = None,
        reduction_config: Optional[ReductionConfig] = None,
        save_config: Union[SaveConfig, Mapping[ModeKeys, Optional[SaveConfigMode]], None] = None,
        save_histogram: bool = True,
    ) -> None:
        self.name = name
        self.include_regex: list[str] = [include_regex] if isinstance(include_regex, str) else include_regex or []
        self._tensor_names: set[str] = set()
        self._reduction_config: Optional[ReductionConfig] = None
        self._save_config: Optional[SaveConfig] = None
        self.set_tensor_names(tensor_names)
        self.reduction_config = reduction_config
        self.set_save_config(save_config)
        self.save_histogram = save_histogram

    def include(self, t: Union[str, list[str]]) -> None:
        """Adds a pattern, or each of a list."""
        if isinstance(t, list):
            for pattern in t:
                self.include(pattern)
        elif isinstance(t, str):
            self.include_regex.append(t)
        else:
            raise SMDebugTypeError(f"expected a pattern or a list of them, found {t!r}")

    @property
    def tensor_names(self) -> set[str]:
        return self._tensor_names

    @tensor_names.setter
    def tensor_names(self, tensor_names: Union[list[str], set[str], None]) -> None:
        self.set_tensor_names(tensor_names)

    def set_tensor_names(self, tensor_names: Union[list[str], set[str], None]) -> None:
        if tensor_names is not None and not isinstance(tensor_names, (list, set)):
            raise SMDebugTypeError(f"expected a list or set as tensor_names, found {tensor_names!r}")
        self._tensor_names = tensor_names if isinstance(tensor_names, set) else set(tensor_names or ())

    def has_tensor_name(self, tname: str) -> bool:
        return tname in self._tensor_names

    def add_tensor_name(self, tname: str) -> None:
        self._tensor_names.add(tname)

    def remove_tensor_name(self, tname: str) -> None:
        self._tensor_names.discard(tname)

    @property
    def reduction_config(self) -> Optional[ReductionConfig]:
        return self._reduction_config

    @reduction_config.setter
    def reduction_config(self, reduction_config: Optional[ReductionConfig]) -> None:
        if reduction_config is not None and not isinstance(reduction_config, ReductionConfig):
            raise SMDebugTypeError(f"expected a ReductionConfig as reduction_config, found {reduction_config!r}")
        self._reduction_config = reduction_config

    @property
    def save_config(self) -> Optional[SaveConfig]:
        return self._save_config

    @save_config.setter
    def save_config(self, save_config: Union[SaveConfig, Mapping[ModeKeys, Optional[SaveConfigMode]], None]) -> None:
        self.set_save_config(save_config)

    def set_save_config(
        self, save_config: Union[SaveConfig, Mapping[ModeKeys, Optional[SaveConfigMode]], None]
    ) -> None:
        if save_config is None or isinstance(save_config, SaveConfig):
            self._save_config = save_config
        elif isinstance(save_config, Mapping):
            self._save_config = SaveConfig(mode_save_configs=save_config)
        else:
            raise SMDebugTypeError(f"expected a SaveConfig or a dict by mode as save_config, found {save_config!r}")

    def to_json_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "include_regex": self.include_regex,
            "tensor_names": sorted(self.tensor_names),
            "reduction_config": self.reduction_config and self.reduction_config.to_json_dict(),
            "save_config": self.save_config and self.save_config.to_json_dict(),
            "save_histogram": self.save_histogram,
        }

    def to_json(self) -> str:
        return json.dumps(self.to_json_dict())

    @classmethod
    def from_dict(cls, params: Mapping[str, Any]) -> Collection:
        if not isinstance(params, Mapping) or "name" not in params:
            raise SMDebugValueError(f"expected a dict with a name, found {params!r}")
        return cls(
            name=params["name"],
            include_regex=params.get("include_regex") or [],
            tensor_names=set(params.get("tensor_names") or ()),
            reduction_config=ReductionConfig.from_dict(params.get("reduction_config")),
            save_config=SaveConfig.from_dict(params.get("save_config")),
            save_histogram=params.get("save_histogram", True),
        )

    @classmethod
    def from_json(cls, json_str: str) -> Collection:
        return cls.from_dict(json.loads(json_str))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Collection):
            return NotImplemented
        return self.to_json_dict() == other.to_json_dict()

    def __hash__(self) -> int:
        return hash(self.name)

    def __str__(self) -> str:
        return str(self.to_json_dict())

    def __repr__(self) -> str:
        return f"<class Collection: name={self.name}>"
