"""Features that are made of targets, as the mean target of those that share a category is, and others like them."""

from __future__ import annotations

from typing import Optional

import torch
from measured import named
from trainwarden.torch.examination.numbers import Numbers
from trainwarden.torch.examination.target_means import TargetMeans

_SAMPLES, _BATCH = 1400, 64


def _measured(
    feature: torch.Tensor, targets: torch.Tensor, categories: Optional[torch.Tensor] = None, epochs: int = 1
) -> dict[str, list[float]]:
    """What is known after all batches, whose samples have two more features."""
    torch.manual_seed(5)
    rows = torch.column_stack([torch.randn(len(targets)), feature, torch.randn(len(targets))])
    means, last = TargetMeans(), {}
    for _ in range(epochs):
        for part in torch.randperm(len(targets)).split(_BATCH):
            numbers = Numbers()
            inputs = [rows[part]] if categories is None else [categories[part], rows[part]]
            means.see(numbers, inputs, targets[part])
            last.update(named(numbers))
    return last


def _of_groups(size: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Groups of so many samples each: which, what is true of a group, targets."""
    torch.manual_seed(3)
    group = torch.arange(_SAMPLES) // size
    true = torch.randn(int(group.max()) + 1)[group]
    return group, true, true + torch.randn(_SAMPLES)


def _mean_of(group: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    return (torch.bincount(group, targets.double()) / torch.bincount(group))[group].float()


def test_the_mean_target_of_small_groups_balances_them() -> None:
    group, true, targets = _of_groups(3)
    feature, correlation, deviations, pairs = _measured(_mean_of(group, targets), targets)["target_balance"]
    assert feature == 1 and pairs >= 100
    assert correlation < -0.3 and deviations > 5
    again = _measured(_mean_of(group, targets), targets, epochs=4)["target_balance"]
    assert again[1] < -0.3  # a sample that comes again is counted once
    _, correlation, deviations, _ = _measured(true, targets)["target_balance"]
    assert correlation > -0.1 and deviations < 3


def test_outliers_that_meet_decide_nothing() -> None:
    _, true, targets = _of_groups(3)
    targets = targets + 3 * true
    targets[0], targets[1] = targets[0] + 300, targets[1] - 300  # of one group
    _, correlation, deviations, _ = _measured(true, targets)["target_balance"]
    assert correlation > -0.05 and deviations < 2


def test_the_mean_of_other_samples_of_the_group_does_not() -> None:
    group, _, targets = _of_groups(6)
    other = torch.arange(_SAMPLES) % 2 == 0
    half = group * 2 + other
    means = torch.bincount(half, targets.double()) / torch.bincount(half).clamp(min=1)
    _, correlation, deviations, _ = _measured(means[group * 2 + ~other].float(), targets)["target_balance"]
    assert correlation > -0.1 and deviations < 3


def test_of_targets_that_are_0_or_1_a_category_tells_groups_apart() -> None:
    torch.manual_seed(8)
    group = torch.randint(0, 350, (_SAMPLES,))
    targets = (torch.rand(350)[group] + torch.rand(_SAMPLES) > 1).float()
    found = _measured((_mean_of(group, targets) + 0.2) * 7, targets, torch.stack([group % 3, group], dim=1))
    assert found["target_balance"][1] < -0.2 and found["target_balance"][2] > 5


def test_shares_of_positive_targets_are_known_by_their_values() -> None:
    torch.manual_seed(4)
    group = torch.randint(0, 350, (_SAMPLES,))
    targets = (torch.rand(350)[group] * torch.rand(_SAMPLES) > 0.5).float()
    feature, levels, at_zero, at_one, errors = _measured(_mean_of(group, targets) * 3 - 1, targets)["target_shares"]
    assert feature == 1 and levels > 8
    assert at_zero > 8 and at_one > 2 and errors < 3
    earlier = (torch.rand(350)[group] * torch.rand(_SAMPLES) > 0.5).float()
    assert "target_shares" not in _measured(_mean_of(group, earlier), targets)  # of other samples


def test_a_grade_is_no_share_of_targets() -> None:
    torch.manual_seed(6)
    for steps in (10, 37):
        grade = torch.randint(0, steps + 1, (_SAMPLES,)).float()
        targets = (torch.rand(_SAMPLES) < grade / steps).float()
        assert "target_shares" not in _measured(grade, targets)


def test_a_whole_set_at_once_is_not_looked_at_each_time_and_a_small_last_batch_ends_nothing() -> None:
    group, _, targets = _of_groups(3)
    rows = torch.column_stack([torch.randn(_SAMPLES), _mean_of(group, targets)])
    found = []
    for sizes in ([_SAMPLES] * 6, [3, 700, 3, 697]):
        means, at = TargetMeans(), 0
        for size in sizes:
            numbers, part = Numbers(), slice(at % _SAMPLES, at % _SAMPLES + size)
            means.see(numbers, [rows[part]], targets[part])
            found.append("target_balance" in named(numbers))
            at += size
    assert found[:6] == [True, True, False, False, False, False]
    assert found[6:] == [False, True, False, True]


def test_what_is_no_row_with_one_target_is_left_alone() -> None:
    rows = torch.randn(64, 3)
    for inputs, target in (
        ([rows], None),
        ([rows], torch.randn(64, 2)),
        ([torch.randn(64, 3, 4)], torch.randn(64)),
        ([torch.randint(0, 9, (64, 3))], torch.randn(64)),
        ([torch.randn(64, 999)], torch.randn(64)),
        ([torch.full((64, 3), float("nan"))], torch.randn(64)),
        ([rows], torch.full((64,), float("inf"))),
        ([torch.ones(64, 3)], torch.ones(64)),
    ):
        numbers, means = Numbers(), TargetMeans()
        for _ in range(8):
            means.see(numbers, inputs, target)
        assert named(numbers) == {}
