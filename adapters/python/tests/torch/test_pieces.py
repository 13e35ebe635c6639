"""Pieces of series: windows that overlap are known by them, others are not."""

import math

import pytest
import torch

from trainwarden.torch.examination.batches import add_values_of_rows, row_prints
from trainwarden.torch.examination.numbers import Numbers
from trainwarden.torch.examination.pieces import KEPT, pieces_of


def windows_of(series, length=48, hop=12):
    return torch.stack([series[at : at + length] for at in range(0, len(series) - length, hop)])


def windows_with_known_pieces(windows, known):
    found = pieces_of(windows)
    assert found is not None
    return sum(any(piece in known for piece in each) for each in found.reshape(-1, KEPT).tolist())


@pytest.mark.parametrize("channels", [1, 3])
def test_windows_that_overlap_share_pieces(channels):
    torch.manual_seed(0)
    windows = windows_of(torch.randn(800, channels).squeeze(1) if channels == 1 else torch.randn(800, channels))
    known = set(pieces_of(windows[0:60:2]).tolist())
    assert windows_with_known_pieces(windows[1:59:2], known) >= 25  # each has a neighbour on both sides
    assert windows_with_known_pieces(torch.randn(32, *windows.shape[1:]), known) == 0


def test_the_axis_of_time_may_be_the_last():
    windows = windows_of(torch.randn(800, 3))[:20]
    assert torch.equal(pieces_of(windows), pieces_of(windows.transpose(1, 2)))


def test_pieces_do_not_depend_on_the_batch_or_the_precision():
    windows = windows_of(torch.randn(800, 5))[:32]
    together = pieces_of(windows).reshape(-1, KEPT)
    assert torch.equal(pieces_of(windows[3:4]), together[3])
    assert torch.equal(pieces_of(windows.double()), together.reshape(-1))


@pytest.mark.parametrize(
    "windows",
    [
        torch.zeros(8, 48),
        torch.eye(4)[torch.randint(4, (8, 48))],  # letters
        torch.randint(0, 2, (8, 48)).float(),
        torch.sin(torch.arange(48) * math.pi / 3).round().expand(8, 48),
    ],
)
def test_what_holds_too_little_has_none(windows):
    assert pieces_of(windows).isnan().all()


@pytest.mark.parametrize("value", [torch.randn(8, 12), torch.randint(0, 9, (8, 48)), torch.randn(8, 3, 32, 32), torch.randn(0, 48), torch.randn(48)])
def test_what_is_no_series_is_left_alone(value):
    assert pieces_of(value) is None


def test_large_batches_are_looked_at_all_over():
    windows = torch.randn(100, 64)
    kept = pieces_of(windows)
    assert kept.numel() <= 32 * KEPT
    assert windows_with_known_pieces(windows[99 - 99 % 4 :][:1], set(kept.tolist())) == 1


def test_values_that_are_not_finite_are_taken_as_they_are():
    windows = torch.randn(8, 48)
    windows[:, 20] = float("nan")
    assert torch.equal(pieces_of(windows), pieces_of(windows.clone()))


def test_values_of_samples_count_those_of_the_most_varied_feature():
    numbers = Numbers()
    rows = torch.stack([torch.zeros(10), torch.arange(10.0) // 2, torch.arange(10.0), torch.ones(10)], dim=1)
    rows[9] = rows[8]
    add_values_of_rows(numbers, rows, row_prints(rows))
    assert numbers.tensor().tolist() == [9, 9]
