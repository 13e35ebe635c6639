"""Graph: the operators between the parameters and a loss, as autograd has noted them. Only read, and read twice."""

from __future__ import annotations

import json
import math
import weakref
from typing import AbstractSet, Any, Optional

import torch

from ..contents import is_tensor
from .masks import filled, hidden_by
from .numbers import is_measurable

# It is read in so manieth full examinations, the second time when the training has settled.
_READ_AT = (0, 20)
_MAX_NODES = 4000
_MAX_MASKS = 8
_MAX_FACTOR = 1 << 16
_MAX_ROWS = 512
# What shows whom an attention leaves out.
_MASKED = ("MaskedFill", "Softmax")
# What says that an attention of torch's own leaves keys out.
_HIDING = ("_saved_is_causal", "_saved_attn_mask", "_saved_attn_bias")
_NUMBERS = ("_saved_dim", "_saved_reduction", "_saved_exponent", "_saved_p", "_saved_training", "_saved_eps")
_LISTS = ("_saved_dim", "_saved_dims", "_saved_padding", "_saved_dilation", "_saved_pad", "_saved_dim0", "_saved_dim1")
_SIZES = ("_saved_self_sizes", "_saved_self_sym_sizes", "_saved_sizes", "_saved_weight_sizes")


class Graphs:
    """Of one training."""

    def __init__(self) -> None:
        self._read = 0
        self._leaves: list[weakref.ref[torch.Tensor]] = []  # of the first one, that are no parameters

    def begin_again(self) -> None:
        self._read = 0

    def is_due(self, fulls: int) -> bool:
        """After so many full examinations?"""
        return self._read < len(_READ_AT) and fulls >= _READ_AT[self._read]

    def read(
        self, root: torch.Tensor, numbers: dict[int, int], given: Optional[torch.Tensor], places: AbstractSet[int]
    ) -> str:
        """The graph of a loss as JSON (see graph_of)."""
        self._read += 1
        known = [each for each in (reference() for reference in self._leaves) if each is not None]
        graph, leaves = graph_of(root, numbers, known, given, places)
        self._leaves = [weakref.ref(each) for each in leaves]
        return json.dumps(graph)


def graph_of(
    root: torch.Tensor,
    numbers: dict[int, int],
    earlier: list[torch.Tensor],
    given: Optional[torch.Tensor],
    places: AbstractSet[int] = frozenset(),
) -> tuple[dict[str, Any], list[torch.Tensor]]:
    """The graph, and its leaves that are no parameters. `earlier`: those of an earlier graph: the same tensor in each step is
    a parameter of the program's own. `given`: what went into the model. `places`: where all that models got lies in memory;
    none of that is a parameter.

    {"nodes": [[operator, [indices of what it is computed from], {attributes}]], "complete": bool}; the root is the
    first. `numbers`: of the parameters, by id; a node for one is ["parameter", [], {"number": n}]."""
    leaves: list[torch.Tensor] = []
    if root.grad_fn is None:
        return {"nodes": [], "complete": True}, leaves
    order = [root.grad_fn]
    place = {root.grad_fn: 0}
    nodes: list[list[Any]] = []
    at = masks = 0
    while at < len(order):
        node = order[at]
        at += 1
        before = []
        for source, _ in node.next_functions:
            if source is None:
                continue
            if source not in place:
                if len(order) >= _MAX_NODES:
                    continue
                place[source] = len(order)
                order.append(source)
            before.append(place[source])
        nodes.append(_describe(node, before, numbers))
        if nodes[-1][0] in _MASKED and masks < _MAX_MASKS:
            shares = _mask_of(node, given)
            masks += 1 if shares else 0
            nodes[-1][2].update(shares)
        leaf = getattr(node, "variable", None)
        if nodes[-1][0] == "leaf" and leaf is not None and leaf.data_ptr() not in places:
            leaves.append(leaf)
            nodes[-1][2] = {"again": any(leaf is each for each in earlier), "sizes": list(leaf.shape)}
    return {"nodes": nodes, "complete": len(order) < _MAX_NODES}, leaves


def _describe(node: Any, before: list[int], numbers: dict[int, int]) -> list[Any]:
    variable = getattr(node, "variable", None)
    if variable is not None:
        number = numbers.get(id(variable))
        return ["parameter" if number is not None else "leaf", [], {} if number is None else {"number": number}]
    name = type(node).__name__.split("Backward")[0]
    known: dict[str, Any] = {}
    for key in _NUMBERS:
        value = getattr(node, key, None)
        if isinstance(value, (bool, int, float)):
            known[key[7:]] = _signed(value) if isinstance(value, int) else value
    for key in _LISTS:
        value = getattr(node, key, None)
        if isinstance(value, int) and key not in _NUMBERS:
            known[key[7:]] = _signed(value)
        elif isinstance(value, (tuple, list)) and len(value) <= 4 and all(isinstance(each, int) for each in value):
            known[key[7:]] = [_signed(each) for each in value]
    if name in ("Mul", "Div"):
        known.update(_factor_of(node))
    if name in ("Softmax", "LogSoftmax"):
        known["axes"] = node._saved_result.dim()
        if name == "Softmax":
            known.update(_attention_of(node._saved_result))
    if name.startswith("ScaledDotProduct") and hasattr(node, _HIDING[0]):
        query = getattr(node, "_saved_query", None)
        if is_tensor(query):
            known["sizes"] = list(query.shape)
        known["hides"] = any(_is_given(getattr(node, key, None)) for key in _HIDING)
    for key in _SIZES:
        value = getattr(node, key, None)
        if isinstance(value, (tuple, list)) and all(isinstance(each, int) for each in value):
            known["sizes"] = list(value)
    return [name, before, known]


def _attention_of(result: torch.Tensor) -> dict[str, Any]:
    """Of a softmax over the last of several axes: how many queries and keys, and the mean of the largest weight."""
    if result.dim() < 3 or not is_measurable(result) or result.numel() == 0:
        return {}
    rows = result.detach().reshape(-1, result.shape[-1])
    rows = rows[:: max(1, rows.shape[0] // _MAX_ROWS)]
    peak = float(rows.float().max(dim=-1).values.mean())
    known = {"queries": result.shape[-2], "keys": result.shape[-1]}
    return {**known, "peak": peak} if math.isfinite(peak) else known


def _is_given(value: Any) -> bool:
    return is_tensor(value) or value is True


def _mask_of(node: Any, given: Optional[torch.Tensor]) -> dict[str, Any]:
    if hasattr(node, "_saved_mask"):
        shares = filled(node._saved_mask, given)
        return {} if shares is None else {"filled": shares}
    weights = node._saved_result
    is_attention = weights.dim() >= 3 and _signed(node._saved_dim) in (-1, weights.dim() - 1)
    return hidden_by(weights, given) if is_attention and is_measurable(weights) and weights.numel() > 0 else {}


def _factor_of(node: Any) -> dict[str, Any]:
    """The sign of what is multiplied with, or divided by, where that is a constant for the gradient: 1, or -1 of a single
    number; 0 where it is not that simple."""
    sources = [each for each, _ in node.next_functions]
    if len(sources) != 2 or (sources[0] is None) == (sources[1] is None):
        return {}
    constant = getattr(node, "_saved_other" if sources[1] is None else "_saved_self", None)
    if constant is None or not is_measurable(constant) or constant.numel() == 0 or constant.numel() > _MAX_FACTOR:
        return {}
    low, high = torch.aminmax(constant.detach())
    return {"factor": 1 if float(low) >= 0 else -1 if constant.numel() == 1 and float(high) < 0 else 0}


def _signed(value: int) -> int:
    """Dimensions are kept as unsigned numbers."""
    return value - (1 << 64) if value >= 1 << 63 else value
