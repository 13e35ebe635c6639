"""Target means: is a feature of the samples made of their targets, as the mean target of those that share a category is?

Samples that share such a value have targets that balance around it. One of three that lies above the mean has two others
that lie below: what is left of the targets when the feature has explained its part is correlated within such a group by
-1 / (n - 1). For a feature that was known before the target it is not negative. Of targets that are 0 or 1 many groups
share a value. There the values themselves give it away: shares k / n, of which 0 has no positive target and 1 no other.
"""

from __future__ import annotations

import math
from typing import NamedTuple, Optional

import torch

from .batches import prints_of
from .numbers import Numbers

# Looked at whenever there are three quarters more.
_FIRST_ROWS, _MAX_ROWS = 256, 4096
_MAX_FEATURES, _MAX_CATEGORIES = 64, 8
_MIN_CORRELATION = 0.2
_MIN_LEVELS = 6
# A feature that has nearly another value for each sample is no mean of a group.
_MAX_DIFFERENT = 0.9
_MIN_PAIRS = 100
_MOST = 0.95  # of what is left of targets so many are counted whole, or a few outliers that meet would decide
_MAX_LEVELS = 512
_MAX_SHARE_OF = 100  # shares k / n up to this n
_ALIKE = 1e-5
_MIN_SHARES = 0.7  # of the samples between 0 and 1
_FEW = 12  # what are twelfths may be grades
_EVEN = 4  # and so may what has so many levels of its steps


class _Found(NamedTuple):
    feature: int
    correlation: float  # within groups
    deviations: float  # standard errors that it is below 0
    pairs: float


class TargetMeans:
    """Over the samples of one training, as long as they are rows of numbers with one target each, in memory of the host."""

    def __init__(self) -> None:
        self._rows: list[torch.Tensor] = []  # [samples, features], float
        self._categories: list[torch.Tensor] = []  # [samples, categories], int64
        self._targets: list[torch.Tensor] = []
        self._count = 0
        self._due = _FIRST_ROWS
        self._is_on = True

    def see(self, numbers: Numbers, inputs: list[torch.Tensor], target: Optional[torch.Tensor]) -> None:
        """A batch, and what its targets are. `target_balance`: feature, correlation within groups, its standard errors
        and pairs; `target_shares`: feature, levels, how many positive targets there should be at 0 and others at 1 if the
        feature said nothing, where there are none, and how badly the shares of the others fit, in standard errors."""
        if not self._is_on:
            return
        if target is None or not self._take(inputs, target):
            self._end()
        elif self._count >= self._due:
            self._due = self._count + 3 * self._count // 4
            measure(numbers, *self._different())
            if self._due > _MAX_ROWS:
                self._end()

    def _end(self) -> None:
        """Nothing more is looked at."""
        self._is_on = False
        self._rows, self._categories, self._targets = [], [], []

    def _take(self, inputs: list[torch.Tensor], target: torch.Tensor) -> bool:
        """Are they such rows?"""
        samples = target.shape[0] if target.dim() > 0 else 0
        if target.numel() != samples or target.device.type != "cpu":
            return False
        alike = [each for each in inputs if each.dim() in (1, 2) and each.shape[0] == samples]
        flat = [each.detach()[:_MAX_ROWS].reshape(min(samples, _MAX_ROWS), -1) for each in alike]
        floats = [each.float() for each in flat if each.is_floating_point()]
        whole = [each.long() for each in flat if not each.is_floating_point()]
        width, kinds = sum(each.shape[1] for each in floats), min(_MAX_CATEGORIES, sum(each.shape[1] for each in whole))
        is_like_others = not self._rows or (self._rows[0].shape[1], self._categories[0].shape[1]) == (width, kinds)
        if not 1 <= width <= _MAX_FEATURES or not is_like_others:
            return False
        rows = torch.cat(floats, dim=1).clone()
        self._rows.append(rows)
        self._categories.append(torch.cat(whole, dim=1)[:, :kinds].clone() if whole else rows.new_zeros(len(rows), 0).long())
        self._targets.append(target.detach()[:_MAX_ROWS].reshape(-1).float().clone())
        self._count += len(rows)
        return True

    def _different(self) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """One row of each sample: one that comes again has the same target, which would hide what is looked for."""
        rows, categories = torch.cat(self._rows), torch.cat(self._categories)
        _, inverse = torch.unique(prints_of(torch.cat([rows.double(), categories.double()], dim=1)), return_inverse=True)
        order = inverse.argsort(stable=True)
        sorted_prints = inverse[order]
        is_first = torch.ones_like(sorted_prints, dtype=torch.bool)
        is_first[1:] = sorted_prints[1:] != sorted_prints[:-1]
        kept = order[is_first]
        return rows[kept], categories[kept], torch.cat(self._targets)[kept]


def measure(numbers: Numbers, rows: torch.Tensor, categories: torch.Tensor, targets: torch.Tensor) -> None:
    """`rows`: [samples, features], `categories`: [samples, categories], no sample twice."""
    balanced: list[_Found] = []
    for feature in _candidates(rows, targets):
        value = rows[:, feature]
        levels, level, counts = torch.unique(value, return_inverse=True, return_counts=True)
        found = _balance(feature, value, level, categories, targets)
        if found is not None:
            balanced.append(found)
        shares = _shares(levels, level, counts, targets)
        if shares is not None and not numbers.has("target_shares"):
            numbers.add("target_shares", [float(feature), *shares])
    if balanced:
        numbers.add("target_balance", max(balanced, key=lambda each: each.deviations))


def _candidates(rows: torch.Tensor, targets: torch.Tensor) -> list[int]:
    """Features that say something of the target, and have values that come again."""
    centred, wanted = rows - rows.mean(dim=0), targets - targets.mean()
    size = centred.norm(dim=0) * wanted.norm()
    correlation = (centred * wanted[:, None]).sum(dim=0).abs() / size.clamp(min=1e-12)
    ordered = rows.sort(dim=0).values
    different = 1 + (ordered[1:] != ordered[:-1]).sum(dim=0)
    chosen = (correlation > _MIN_CORRELATION) & (different >= _MIN_LEVELS) & (different < _MAX_DIFFERENT * rows.shape[0])
    return [int(each) for each in chosen.nonzero().reshape(-1)]


def _balance(
    feature: int, value: torch.Tensor, level: torch.Tensor, categories: torch.Tensor, targets: torch.Tensor
) -> Optional[_Found]:
    """The most balanced of the groupings by the value alone, and by it and one category."""
    left = _left_of(value.double(), targets.double())
    most = float(left.abs().quantile(_MOST))
    left = left.clamp(-most, most)
    left = left - left.mean()
    spread = float(left.square().mean())
    if spread <= 1e-12:
        return None
    groupings = [level] + [_joined(level, categories[:, each]) for each in range(categories.shape[1])]
    found = []
    for group in groupings:
        counts = torch.bincount(group).double()
        sums = torch.bincount(group, weights=left)
        pairs = float((counts * (counts - 1)).sum()) / 2
        if pairs >= _MIN_PAIRS:
            products = float(sums.square().sum() - left.square().sum()) / 2
            correlation = products / pairs / spread
            found.append(_Found(feature, correlation, -correlation * math.sqrt(pairs), pairs))
    return max(found, key=lambda each: each.deviations, default=None)


def _left_of(value: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Of the targets, when a line through `value` has explained its part."""
    centred, wanted = value - value.mean(), targets - targets.mean()
    return wanted - centred * (centred.dot(wanted) / centred.square().sum().clamp(min=1e-12))


def _joined(level: torch.Tensor, category: torch.Tensor) -> torch.Tensor:
    """Groups of both."""
    _, inverse = torch.unique(category, return_inverse=True)
    joint = level * (int(inverse.max()) + 1) + inverse
    return torch.unique(joint, return_inverse=True)[1]


def _shares(
    levels: torch.Tensor, level: torch.Tensor, counts: torch.Tensor, targets: torch.Tensor
) -> Optional[tuple[float, float, float, float]]:
    """What `target_shares` has. None where the values, from least to most, are no shares k / n of many different n."""
    is_binary = bool(((targets == 0) | (targets == 1)).all())
    if not is_binary or not _MIN_LEVELS <= levels.numel() <= _MAX_LEVELS:
        return None
    place = ((levels - levels[0]) / (levels[-1] - levels[0])).double()
    divisors = _divisors(place[1:-1])
    inner = counts[1:-1].double()
    least = math.lcm(*(int(each) for each in divisors.unique() if each > 0))
    is_grade = least <= max(_FEW, _EVEN * levels.numel())
    if is_grade or float(inner[divisors > 0].sum()) < _MIN_SHARES * float(inner.sum()):
        return None
    positive = torch.bincount(level, weights=targets.double())
    if positive[0] > 0 or positive[-1] < counts[-1]:
        return None
    expected = inner * place[1:-1]
    misfit = ((positive[1:-1] - expected).square() / (expected * (1 - place[1:-1])).clamp(min=1e-9)).sum()
    errors = (float(misfit) - inner.numel()) / math.sqrt(2 * inner.numel())
    rate = float(targets.mean())
    return float(levels.numel()), float(counts[0]) * rate, float(counts[-1]) * (1 - rate), errors


def _divisors(shares: torch.Tensor) -> torch.Tensor:
    """Of each the least n of which it is a share k / n; 0: none."""
    n = torch.arange(2, _MAX_SHARE_OF + 1, dtype=torch.float64)
    parts = shares[:, None] * n
    fits = (parts - parts.round()).abs() <= _ALIKE * n
    return torch.where(fits.any(dim=1), fits.double().argmax(dim=1) + 2, 0)
