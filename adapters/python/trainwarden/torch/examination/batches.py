"""Batches: what goes into a model, what comes out, and what that is compared with, as a few numbers."""

from __future__ import annotations

from typing import Any, Iterator, Optional

import torch

from .. import contents
from ..loss_options import LossOptions
from .numbers import Numbers, is_measurable
from .padding import up_to_the_end
from .shifts import matches_of_shifts

# So many elements are looked at, from the whole batch.
_MAX_ELEMENTS = 1 << 14
_MAX_CLASSES = 64
_PRINTED = 512
_MAX_MARKED = 256
_PRINTED_ROWS = 64
_TINY = 1e-12


def tensors_in(value: Any) -> Iterator[torch.Tensor]:
    """The first ones."""
    return iter(contents.tensors_in(value, max_depth=4, max_items=64))


def first_tensor(args: Any) -> Optional[torch.Tensor]:
    """Of the positional arguments of a call."""
    return next((each for each in args if contents.is_tensor(each)), None) if type(args) is tuple else None


def add_spread(numbers: Numbers, name: str, value: torch.Tensor) -> None:
    """`name`: mean, standard deviation, minimum, maximum, share of zeros, share that is not finite; then how far the
    samples of the batch differ (mean over the features of their standard deviation), and the share of features that are
    the same in all samples. `name_peak`: the share of the variance that the farthest single element has."""
    rows = _rows(value)
    finite = torch.isfinite(rows)
    share = finite.to(rows.dtype).mean()
    clean = torch.where(finite, rows, rows.new_zeros(()))
    std, mean = torch.std_mean(clean, unbiased=False)
    low, high = torch.aminmax(clean)
    numbers.add(name, torch.stack([mean, std, low, high, (rows == 0).to(rows.dtype).mean(), 1 - share]))
    far = torch.maximum((high - mean).square(), (low - mean).square())
    numbers.add(f"{name}_peak", far / (std.square() * rows.numel() + _TINY))
    if rows.shape[0] > 1:
        spread = clean.std(dim=0, unbiased=False)
        numbers.add(f"{name}_spread", torch.stack([spread.mean(), (spread <= 1e-6 * std + _TINY).to(spread.dtype).mean()]))


def _rows(value: torch.Tensor) -> torch.Tensor:
    """As float32 or wider, of shape [samples, features]; of large ones some of the features."""
    samples = value.shape[0] if value.dim() > 0 else 1
    rows = value.detach().reshape(samples, -1) if value.numel() else value.detach().reshape(0, 1)
    if rows.shape[0] > 256:
        rows = rows[:256]
    limit = max(1, _MAX_ELEMENTS // max(1, rows.shape[0]))
    if rows.shape[1] > limit:
        rows = rows[:, :: -(-rows.shape[1] // limit)]
    return rows if rows.dtype in (torch.float32, torch.float64) else rows.to(torch.float32)


def add_neighbours(numbers: Numbers, value: torch.Tensor) -> None:
    """`neighbours`: how alike elements of the last axis are that lie 1, 2, 3 and 4 apart, as correlations; of images those of
    the axis before that, too, that lie 1 apart."""
    if value.dim() < 3 or value.shape[-1] < 8 or not value.is_floating_point():
        return
    rows = value.detach()[:16].float()
    rows = rows - rows.mean()
    size = rows.square().mean() + _TINY
    alike = [(rows[..., lag:] * rows[..., :-lag]).mean() / size for lag in range(1, 5)]
    if rows.dim() == 4 and rows.shape[2] > 1:
        alike.append((rows[:, :, 1:] * rows[:, :, :-1]).mean() / size)
    numbers.add("neighbours", torch.stack(alike))


def add_symbols(numbers: Numbers, value: torch.Tensor) -> None:
    """`symbols` of whole numbers, as those of an embedding: how many were looked at, how many differ, and the share of the
    most frequent two."""
    counts = torch.unique(value.detach().reshape(-1)[:4096], return_counts=True)[1].double().sort(descending=True)[0]
    total = counts.sum()
    numbers.add("symbols", torch.stack([total, total.new_tensor(float(counts.numel())), counts[:2].sum() / total]))


_weights: dict[torch.device, torch.Tensor] = {}


def _weights_on(device: torch.device) -> torch.Tensor:
    weights = _weights.get(device)
    if weights is None:
        weights = torch.sin(torch.arange(1, _PRINTED + 1, dtype=torch.float64, device=device))
        _weights[device] = weights
    return weights


def fingerprint(value: torch.Tensor) -> torch.Tensor:
    """A number that two batches share when they are the same."""
    flat = value.detach().reshape(-1)[:_PRINTED].to(torch.float64)
    return flat.dot(_weights_on(flat.device)[: flat.numel()])


def row_prints(value: torch.Tensor, rows: int = _PRINTED_ROWS) -> Optional[torch.Tensor]:
    """For each of the first samples of a batch a number that two equal samples share. None where there are no samples, or
    where they hold too little to be told apart."""
    if value.dim() < 2 or value.numel() // value.shape[0] < 4:
        return None
    return prints_of(value[:rows])


def prints_of(value: torch.Tensor) -> torch.Tensor:
    """A number for each sample that equal samples share."""
    flat = value.detach().reshape(value.shape[0], -1)[:, :_PRINTED].to(torch.float64)
    return flat @ _weights_on(flat.device)[: flat.shape[1]]


def add_values_of_rows(numbers: Numbers, value: torch.Tensor, prints: torch.Tensor) -> None:
    """`row_values`: how many different values the feature has that has most of them, and how many different samples there
    are. Where it is nearly one for each, two equal samples are one sample twice. `prints`: of the samples that are counted."""
    flat = value.detach()[: prints.numel()].reshape(prints.numel(), -1)[:, :_PRINTED]
    different = (_different(flat).max(), _different(prints.reshape(-1, 1)).max())
    numbers.add("row_values", torch.stack(different).double())


def _is_pattern(labels: torch.Tensor) -> bool:
    """Are labels laid out by a rule, so that each batch may well have the same: sorted, one of two, or class after class?"""
    first = labels.reshape(-1)[:_PRINTED]
    classes = torch.unique(first).numel()
    if classes < 3 or first.numel() < 8 or bool((first[1:] >= first[:-1]).all()):
        return True
    return bool(torch.equal(first[classes:], first[:-classes]))


def _different(columns: torch.Tensor) -> torch.Tensor:
    """Values of each column."""
    ordered = columns.sort(dim=0).values
    return 1 + (ordered[1:] != ordered[:-1]).sum(dim=0)


def telling_input(inputs: list[torch.Tensor]) -> torch.Tensor:
    """The one by which samples are told apart: the first one, unless it holds too little for that."""
    return next((each for each in inputs if each.dim() >= 2 and each.numel() // each.shape[0] >= 4), inputs[0])


def add_order(numbers: Numbers, value: torch.Tensor) -> None:
    """`batch_order` of inputs of shape [samples, length, ...]: how alike elements are that follow each other in a sample,
    and those that lie as far apart in memory as there are samples: the latter are neighbours where the two axes were
    mixed up by reshape(). Correlations."""
    if value.dim() not in (2, 3) or not value.is_floating_point() or value.shape[0] < 4 or value.shape[1] < 4:
        return
    samples, length = value.shape[:2]
    if samples % length == 0 or length % samples == 0:
        return
    rows = value.detach().float()
    rows = (rows - rows.mean(dim=0)).reshape(samples * length, -1)
    limit = max(_MAX_ELEMENTS // rows.shape[1], 2 * samples + 1)
    rows = rows[:limit]
    size = rows.square().mean() + _TINY
    near = (rows[1:] * rows[:-1]).mean() / size
    far = (rows[samples:] * rows[:-samples]).mean() / size
    numbers.add("batch_order", torch.stack([near, far]))


class Compared:
    """The two sides of one loss function: predictions and targets."""

    def __init__(self, function: str, inputs: Any, options: LossOptions = LossOptions()) -> None:
        pair = list(tensors_in(inputs))[:2]
        self.function = function
        self.options = options
        self.predicted: Optional[torch.Tensor] = pair[0] if pair and is_measurable(pair[0]) else None
        self.target: Optional[torch.Tensor] = pair[1] if len(pair) > 1 and is_measurable(pair[1]) else None

    def has_classes(self) -> bool:
        return (
            self.target is not None
            and self.predicted is not None
            and not self.target.is_floating_point()
            and self.predicted.dim() == self.target.dim() + 1
            and self.predicted.dim() >= 2
            and self.predicted.shape[:1] == self.target.shape[:1]
            and self.predicted.shape[2:] == self.target.shape[1:]
        )

    def valid(self, labels: torch.Tensor, classes: int) -> torch.Tensor:
        """Those of the targets that count."""
        valid = (labels >= 0) & (labels < classes)
        return valid if self.options.ignore_index is None else valid & (labels != self.options.ignore_index)

    def scores(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Of shape [samples, classes] and [samples], where the target is a number of a class."""
        assert self.predicted is not None and self.target is not None
        scores = self.predicted.detach()
        if scores.dim() > 2:
            scores = scores.movedim(1, -1)
        return scores.reshape(-1, scores.shape[-1])[:16384].float(), self.target.detach().reshape(-1)[:16384]

    def add_scales(self, numbers: Numbers) -> None:
        if self.target is not None and self.predicted is not None and self.target.is_floating_point():
            add_spread(numbers, "predicted1", self.predicted)
            add_spread(numbers, "target1", self.target)

    def add(self, numbers: Numbers, prefix: str) -> None:
        if self.predicted is not None:
            add_spread(numbers, f"{prefix}predicted", self.predicted)
        if self.target is not None:
            add_spread(numbers, f"{prefix}target", self.target)
        if self.has_classes():
            self._add_classes(numbers, prefix)
        elif self.predicted is not None and self.target is not None and self.target.is_floating_point():
            self._add_constants(numbers, prefix)
        plain = self.plain_loss()
        if plain is not None:
            numbers.add(f"{prefix}plain_loss", plain)

    def plain_loss(self) -> Optional[torch.Tensor]:
        """The mean over all elements, without weights, smoothing or what is left out: what a constant answer is compared
        with. None for functions of which none is known."""
        function, predicted, target = self.function.lower(), self.predicted, self.target
        if predicted is None or target is None:
            return None
        if self.has_classes():
            scores, labels = self.scores()
            valid = self.valid(labels, scores.shape[-1])
            chosen = labels.clamp(0, scores.shape[-1] - 1).long()[:, None]
            logarithms = scores if "nll" in function else torch.log_softmax(scores, dim=-1)
            losses = -logarithms.gather(1, chosen)[:, 0]
            return (losses * valid).sum() / valid.sum().clamp(min=1)
        losses = self._element_losses()
        return None if losses is None else losses.mean()

    def _element_losses(self) -> Optional[torch.Tensor]:
        """Of targets that are numbers: one for each element, or for each row of a cross entropy."""
        function, predicted, target = self.function.lower(), self.predicted, self.target
        if predicted is None or target is None or not target.is_floating_point() or predicted.shape != target.shape:
            return None
        ours, theirs = predicted.detach().float(), target.detach().float()
        if "cross" in function and "binary" not in function and ours.dim() == 2:
            return -(theirs * torch.log_softmax(ours, dim=-1)).sum(dim=-1)
        if "logits" in function:
            return torch.nn.functional.softplus(ours).sub(ours * theirs)
        if "binary" in function or "bce" in function:
            logs = ours.clamp(0, 1).log().clamp(min=-100), (1 - ours.clamp(0, 1)).log().clamp(min=-100)
            return -(theirs * logs[0] + (1 - theirs) * logs[1])
        return (ours - theirs).square() if "mse" in function else None

    def add_padding(self, numbers: Numbers, value: torch.Tensor, name: str = "padding") -> None:
        """`name`, of targets of sequences: the share of targets that stand where a row is but filled up to its length,
        how much that varies from row to row, and the mean loss without them. `value`: what went into the model. Of tokens
        it is what most rows of targets end with; of numbers, where an input stays what it is at its end."""
        if self.target is None or self.target.numel() > 1 << 16 or value.dim() < 2 or value.shape[0] < 4:
            return
        if value.dim() == 2 and not value.is_floating_point():
            self._add_padding_of_classes(numbers, value.shape[0], name)
            self._add_lengths(numbers, value)
        elif value.dim() in (2, 3) and value.is_floating_point() and self.target.is_floating_point():
            self._add_padding_of_numbers(numbers, value, name)

    def _add_padding_of_numbers(self, numbers: Numbers, value: torch.Tensor, name: str) -> None:
        losses, target = self._element_losses(), self.target
        if losses is None or target is None or target.dim() < 2 or target.shape[0] != value.shape[0] or losses.shape != target.shape:
            return
        if target.dim() == 3 and value.dim() == 3 and target.shape[1] < 4 and target.shape[2] == value.shape[2]:
            losses, target, value = losses.transpose(1, 2), target.transpose(1, 2), value.transpose(1, 2)  # time is last
        is_image = target.dim() == 2 or target.shape[1] == target.shape[2]  # perhaps, if it is also what goes in
        if is_image and value.shape == target.shape and bool(torch.equal(value, target)):
            return
        length, rows = target.shape[1], value.detach()
        if rows.shape[1] != length or not 4 <= length <= 4096:
            return
        stays = (rows == rows[:, -1:]).reshape(*rows.shape[:2], -1).all(dim=2)
        filled = up_to_the_end(stays).long()
        filled = filled * (filled.sum(dim=1, keepdim=True) > 1)  # the last one alone is as it is
        runs = filled.float().mean(dim=1)
        kept = (1 - filled).reshape(*filled.shape, *[1] * (target.dim() - 2)).expand(target.shape)
        without = (losses * kept).sum() / kept.sum().clamp(min=1)
        numbers.add(name, torch.stack([runs.mean(), runs.std(unbiased=False), without]))

    def _add_padding_of_classes(self, numbers: Numbers, samples: int, name: str) -> None:
        target = self.target
        if target is None or not self.has_classes() or target.numel() % samples != 0:
            return
        rows = target.detach().reshape(samples, -1)
        if not 4 <= rows.shape[1] <= 4096 or target.numel() > 16384:
            return
        last = rows[:, -1].mode().values
        runs = up_to_the_end(rows == last).float().mean(dim=1)
        scores, labels = self.scores()
        kept = (rows != last).reshape(-1) & self.valid(labels, scores.shape[-1])
        losses = -torch.log_softmax(scores, dim=-1).gather(1, labels.clamp(0, scores.shape[-1] - 1).long()[:, None])[:, 0]
        without = (losses * kept).sum() / kept.sum().clamp(min=1)
        numbers.add(name, torch.stack([runs.mean(), runs.std(unbiased=False), without]))

    def _add_lengths(self, numbers: Numbers, tokens: torch.Tensor) -> None:
        """`lengths` of tokens and of as many targets: the share of samples of which the two are not equally long but for one
        place, and whether they are the same lengths in another order."""
        target = self.target
        if target is None or target.is_floating_point() or target.numel() != tokens.numel() or tokens.shape[1] < 4:
            return
        if numbers.has("lengths"):  # of an earlier loss
            return
        ours = _lengths(tokens.detach())
        theirs = _lengths(target.detach().reshape(tokens.shape))
        differ = ((ours - theirs).abs() > 1).float().mean()
        are_same = (ours.sort().values == theirs.sort().values).all().float()
        numbers.add("lengths", torch.stack([differ, are_same]))

    def _add_classes(self, numbers: Numbers, prefix: str) -> None:
        scores, target = self.scores()
        classes = scores.shape[-1]
        valid = self.valid(target, classes)
        chosen = scores.argmax(dim=-1)
        right = ((chosen == target) & valid).sum() / valid.sum().clamp(min=1)
        counted = torch.bincount(chosen, minlength=classes).float()
        labels = torch.bincount(target[valid], minlength=classes).float()
        sums = scores[:256].sum(dim=-1)
        if "nll" in self.function.lower():
            numbers.add(f"{prefix}log_sum", torch.logsumexp(scores[:256], dim=-1).abs().mean())
        numbers.add(f"{prefix}accuracy", right)
        numbers.add(f"{prefix}valid", valid.float().mean())
        numbers.add(f"{prefix}top_share", counted.max() / counted.sum().clamp(min=1))
        numbers.add(f"{prefix}rows_sum_to_1", ((sums - 1).abs() < 1e-3).float().mean())
        numbers.add(f"{prefix}classes", float(classes))
        if classes <= _MAX_CLASSES:
            numbers.add(f"{prefix}labels", labels)
            if self.options.class_weights is not None and self.options.class_weights.numel() == classes:
                numbers.add(f"{prefix}class_weights", self.options.class_weights.detach().float().reshape(-1))
        else:
            share = labels / labels.sum().clamp(min=1)
            numbers.add(f"{prefix}label_entropy", -(share * (share + _TINY).log()).sum())
        if prefix == "" and not _is_pattern(target):
            numbers.add("label_print", fingerprint(target))
        numbers.add(f"{prefix}repeats", (target[1:] == target[:-1]).float().mean() if target.numel() > 1 else 0.0)

    def _add_constants(self, numbers: Numbers, prefix: str) -> None:
        """Sums from which the best constant answer follows, column by column, for a squared error and for probabilities."""
        assert self.target is not None and self.predicted is not None
        columns = self.target.detach().float()
        columns = columns.reshape(columns.shape[0], -1) if columns.dim() > 1 else columns.reshape(-1, 1)
        if columns.shape[1] > 256:
            columns = columns[:, :: -(-columns.shape[1] // 256)]
        if "cross" in self.function.lower() and "binary" not in self.function.lower():
            numbers.add("rows_of_target_sum_to_1", ((columns.sum(dim=1) - 1).abs() < 1e-2).float().mean())
        numbers.add(f"{prefix}target_mean", columns.mean(dim=0))
        numbers.add(f"{prefix}target_square", columns.square().mean(dim=0))
        weight = self.options.positive_weight
        if weight is not None and weight.numel() in (1, columns.shape[1]):
            numbers.add(f"{prefix}positive_weight", weight.detach().float().reshape(-1).expand(columns.shape[1]))
        if self.predicted.shape == self.target.shape:
            ours, theirs = self.predicted.detach().float().reshape(-1), self.target.detach().float().reshape(-1)
            numbers.add(f"{prefix}residual", (ours - theirs).square().mean())
            a, b = ours - ours.mean(), theirs - theirs.mean()
            numbers.add(f"{prefix}correlation", (a * b).sum() / (a.norm() * b.norm() + _TINY))
            if self.function.startswith("binary"):
                limit = 0.0 if "logits" in self.function else 0.5
                numbers.add(f"{prefix}accuracy", ((ours > limit) == (theirs > 0.5)).float().mean())
                numbers.add(f"{prefix}top_share", torch.maximum((ours > limit).float().mean(), (ours <= limit).float().mean()))

    def add_relation(self, numbers: Numbers, value: torch.Tensor) -> None:
        """What the input says of the target: `shift_match` of a model of sequences how many targets are the token 0, 1, 2
        and 3 places on."""
        target = self.target
        if target is None:
            return
        self._add_forecast(numbers, value, target)
        if value.numel() == target.numel() and value.is_floating_point() and target.is_floating_point():
            same = _are_alike(value.detach().reshape(-1)[:2048], target.detach().reshape(-1)[:2048])
            numbers.add("target_is_input", same.float().mean())
        if value.dtype in (torch.int64, torch.int32) and value.dim() == 2 and value.shape[1] > 4:
            same = matches_of_shifts(value.detach(), target.detach())
            if same is not None:
                numbers.add("shift_match", same)

    def add_telling(self, numbers: Numbers, values: list[torch.Tensor]) -> None:
        """`telling`: the largest correlation of a feature of `values`, the inputs, with the target, which feature that is, and
        what was compared: 0 the feature, 1 whether it has another value than most samples, 2 places of a series."""
        target, found = self.target, []
        if target is None or target.dim() == 0 or target.numel() != target.shape[0] or target.numel() < 8:
            return
        wanted = target.detach().reshape(-1).float()
        wanted = wanted - wanted.mean()
        for value in values:
            if not value.is_floating_point() or value.dim() not in (2, 3) or value.shape[0] != target.numel():
                continue
            rows = value.detach().reshape(value.shape[0], -1)[:, -1024:].float()
            found.append(_most_telling(rows, wanted, 0 if value.dim() == 2 else 2))
            if value.dim() == 2 and rows.shape[1] <= _MAX_MARKED:
                found.append(_most_telling(_marked(rows), wanted, 1))
        if found:
            every = torch.stack(found)
            numbers.add("telling", every[every[:, 0].argmax()])

    def _add_forecast(self, numbers: Numbers, value: torch.Tensor, target: torch.Tensor) -> None:
        """`forecast` of series: the share of targets that are the input one place on, along the second or the last axis."""
        if not (value.is_floating_point() and target.is_floating_point() and value.dim() in (2, 3) and target.dim() >= 2):
            return
        shares = []
        for axis in {1, value.dim() - 1}:
            moved, wanted = value.detach()[:64].transpose(1, axis), target.detach()[:64]
            wanted = wanted.transpose(1, axis) if wanted.dim() == value.dim() else wanted
            moved = moved[..., :1].squeeze(-1) if moved.dim() == 3 else moved
            wanted = wanted[..., :1].squeeze(-1) if wanted.dim() == 3 else wanted
            length = min(moved.shape[1] - 1, wanted.shape[1])
            if length >= 8 and moved.shape[0] == wanted.shape[0] and wanted.shape[1] - moved.shape[1] in (-1, 0):
                shares.append(_are_alike(moved[:, 1 : length + 1], wanted[:, :length]).float().mean())
        if shares:
            numbers.add("forecast", torch.stack(shares).max())

    def counted(self, target: torch.Tensor) -> torch.Tensor:
        """Those of the targets that are tokens and count."""
        counts = target >= 0
        return counts if self.options.ignore_index is None else counts & (target != self.options.ignore_index)

    def shapes(self) -> dict[str, Any]:
        known: dict[str, Any] = {"function": self.function}
        if self.predicted is not None:
            known["predicted"] = list(self.predicted.shape)
            known["predicted_dtype"] = str(self.predicted.dtype)[6:]
        if self.target is not None:
            known["target"] = list(self.target.shape)
            known["target_dtype"] = str(self.target.dtype)[6:]
        return known


def _are_alike(one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """Element by element, but for rounding."""
    return (one - other).abs() <= 1e-5 * (1 + other.abs())


def _most_telling(rows: torch.Tensor, wanted: torch.Tensor, kind: int) -> torch.Tensor:
    """Of the columns. `wanted` has a mean of 0."""
    rows = rows - rows.mean(dim=0)
    size = rows.norm(dim=0) * wanted.norm() + _TINY
    best = ((rows * wanted[:, None]).sum(dim=0) / size).abs().max(dim=0)
    return torch.stack([best.values, best.indices.float(), best.values.new_tensor(float(kind))])


def _marked(rows: torch.Tensor) -> torch.Tensor:
    """Where a column has not its most frequent value, as where something is filled in for some samples only; of columns
    in which that is usual or rare there is nothing to tell."""
    marked = (rows != rows.mode(dim=0).values).float()
    share = marked.mean(dim=0)
    return marked * ((share > 0.1) & (share < 0.9))


def _lengths(rows: torch.Tensor) -> torch.Tensor:
    """Of each row, without what most rows end with."""
    last = rows[:, -1].mode().values
    return rows.shape[1] - up_to_the_end(rows == last).sum(dim=1)
