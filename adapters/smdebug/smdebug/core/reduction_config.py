"""ReductionConfig: which numbers are saved in place of tensors."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Optional

from ..exceptions import SMDebugValueError
from .utils import split

ALLOWED_REDUCTIONS = ["min", "max", "mean", "std", "variance", "sum", "prod"]
ALLOWED_NORMS = ["l1", "l2"]
ALLOWED_PARAMS = ["reductions", "abs_reductions", "norms", "abs_norms", "save_raw_tensor", "save_shape"]
REDUCTION_CONFIG_VERSION_NUM = "v0"

_ABS, _NORM = "abs_", "_norm"


class ReductionConfig:
    """Reductions of the tensor, of its absolute value (`abs_`), and entrywise norms of both.

    The whole tensor is then saved only with save_raw_tensor; save_shape saves its shape.

    Raises:
        SMDebugValueError: a name that is none of ALLOWED_REDUCTIONS or ALLOWED_NORMS, or a flag that is no boolean.
    """

    def __init__(
        self,
        reductions: Optional[list[str]] = None,
        abs_reductions: Optional[list[str]] = None,
        norms: Optional[list[str]] = None,
        abs_norms: Optional[list[str]] = None,
        save_raw_tensor: bool = False,
        save_shape: bool = False,
    ) -> None:
        self.reductions = _checked("reductions", reductions, ALLOWED_REDUCTIONS)
        self.abs_reductions = _checked("abs_reductions", abs_reductions, ALLOWED_REDUCTIONS)
        self.norms = _checked("norms", norms, ALLOWED_NORMS)
        self.abs_norms = _checked("abs_norms", abs_norms, ALLOWED_NORMS)
        self.save_raw_tensor = save_raw_tensor
        self.save_shape = save_shape
        for flag in ("save_raw_tensor", "save_shape"):
            if not isinstance(getattr(self, flag), bool):
                raise SMDebugValueError(f"expected True or False as {flag}, found {getattr(self, flag)!r}")

    def requested(self) -> list[tuple[str, bool]]:
        """What is asked for: the reduction's name, and whether it is of the absolute value."""
        plain = [(name, False) for name in self.reductions + self.norms]
        return plain + [(name, True) for name in self.abs_reductions + self.abs_norms]

    @classmethod
    def from_dict(cls, params: Optional[Mapping[str, Any]]) -> Optional[ReductionConfig]:
        """None for None. `reductions` is a text such as "min,abs_mean,l2_norm,abs_l1_norm"; the flags may be texts."""
        if params is None:
            return None
        if not isinstance(params, Mapping):
            raise SMDebugValueError(f"expected a dict with reductions, save_raw_tensor, save_shape, found {params!r}")
        lists: dict[str, list[str]] = {"reductions": [], "abs_reductions": [], "norms": [], "abs_norms": []}
        for word in filter(None, split(params.get("reductions", ""))):
            name = word[len(_ABS) :] if word.startswith(_ABS) else word
            kind = "norms" if name.endswith(_NORM) else "reductions"
            lists["abs_" + kind if word.startswith(_ABS) else kind].append(
                name[: -len(_NORM)] if kind == "norms" else name
            )
        flags = {key: _flag(key, params.get(key, False)) for key in ("save_raw_tensor", "save_shape")}
        return cls(**lists, **flags)  # type: ignore[arg-type]

    @classmethod
    def from_json(cls, json_str: str) -> Optional[ReductionConfig]:
        return cls.from_dict(json.loads(json_str))

    def to_json_dict(self) -> dict[str, Any]:
        words = [
            *self.reductions,
            *(name + _NORM for name in self.norms),
            *(_ABS + name for name in self.abs_reductions),
            *(_ABS + name + _NORM for name in self.abs_norms),
        ]
        return {
            "save_raw_tensor": self.save_raw_tensor,
            "reductions": ",".join(words),
            "save_shape": self.save_shape,
        }

    def to_json(self) -> str:
        return json.dumps(self.to_json_dict())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ReductionConfig):
            return NotImplemented
        return self.to_json_dict() == other.to_json_dict()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        values = ", ".join(f"{key}={getattr(self, key)}" for key in ALLOWED_PARAMS)
        return f"<class ReductionConfig: {values}>"


def _checked(key: str, names: Optional[list[str]], allowed: list[str]) -> list[str]:
    for name in names or []:
        if name not in allowed:
            raise SMDebugValueError(f"expected {key} out of {', '.join(allowed)}, found {name!r}")
    return names if names is not None else []


def _flag(key: str, value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if value in ("True", "true", "False", "false"):
        return bool(value in ("True", "true"))
    raise SMDebugValueError(f"expected true or false as {key}, found {value!r}")
