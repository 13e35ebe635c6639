"""What an examination reads from shapes, masks and targets: both sides of each."""

from __future__ import annotations

import math

import pytest
import torch
from measured import named, numbers_of
from torch import nn

from trainwarden.torch.examination.adversaries import Adversaries
from trainwarden.torch.examination.batches import Compared
from trainwarden.torch.examination.exchanged import Exchanges, exchanged
from trainwarden.torch.examination.fed import Fed
from trainwarden.torch.examination.graph import graph_of
from trainwarden.torch.examination.empty_rows import EmptyRows
from trainwarden.torch.examination.masks import Masks, filled, hidden_by, spreads
from trainwarden.torch.examination.numbers import Numbers
from trainwarden.torch.examination.padding import padding_of
from trainwarden.torch.examination.reordered import Reordered
from trainwarden.torch.loss_options import LossOptions


@pytest.mark.parametrize(
    "given, taken, what",
    [
        ((8, 5, 3), (5, 8, 3), "samples"),
        ((8, 5, 3), (8, 3, 5), "axes"),
        ((8, 5, 3), (40, 3), None),
        ((8, 5, 3), (8, 15), None),
        ((8, 5, 4), (8, 5, 2, 2), None),  # heads
        ((8, 1, 5), (8, 5, 1), None),
        ((1, 5, 3), (5, 1, 3), None),  # one sample
        ((8, 6, 4, 7), (7, 8, 24), "samples"),
        ((8, 12, 5), (8, 5, 3, 4), "axes"),  # places and channels
        ((8, 5, 3, 4), (8, 12, 5), "axes"),
        ((8, 5, 3, 4), (8, 5, 12), None),
        ((8, 1, 3, 4), (8, 12, 1), None),
        ((2, 8, 5), (8, 10), "samples"),  # states of two directions
        ((1, 8, 5), (8, 5), None),
        ((8, 8, 5), (8, 40), None),
    ],
)
def test_exchanged(given: tuple[int, ...], taken: tuple[int, ...], what: str) -> None:
    assert exchanged(given, taken) == what


def test_a_view_of_an_output_is_told_and_a_transpose_is_not() -> None:
    layer = nn.Embedding(10, 3)
    output = layer(torch.randint(0, 10, (8, 5)))
    seen = Exchanges()
    seen.gives("emb", output)
    seen.takes("rnn", (output.transpose(0, 1),))
    seen.takes("copied", (output.transpose(0, 1).contiguous(),))
    assert seen.found == []
    seen.takes("rnn", (output.view(5, 8, 3),))
    assert seen.found == [{"from": "emb", "to": "rnn", "what": "samples", "given": [8, 5, 3], "taken": [5, 8, 3]}]
    seen.takes("other", (torch.randn(8, 5, 3).reshape(8, 3, 5),))  # of what no module gave
    assert seen.found[1]["from"] == "" and seen.found[1]["what"] == "axes"


@pytest.mark.parametrize("batch_first", [True, False])
def test_a_mask_of_keys_hides_what_is_alike(batch_first: bool) -> None:
    attention = nn.MultiheadAttention(4, 1, batch_first=batch_first)
    keys = torch.randn(8, 6, 4)
    padding = torch.arange(6)[None] >= torch.tensor([3, 4, 5, 3, 4, 5, 3, 4])[:, None]
    keys[padding] = 0.5
    given = keys if batch_first else keys.transpose(0, 1)
    for mask, is_right in ((padding, True), (~padding, False)):
        masks = Masks()
        masks.see(attention, (given, given, given), {"key_padding_mask": mask})
        share, hidden, shown = numbers_of(masks)["mask_keys"]
        assert share == pytest.approx(mask.float().mean().item())
        assert (hidden < 0.01 < shown) if is_right else (shown < 0.01 < hidden)
    assert spreads(padding, keys[:, :5], True) is None


@pytest.mark.parametrize("side", ["end", "beginning"])
def test_what_masked_fill_hides(side: str) -> None:
    causal = torch.ones(5, 5, dtype=torch.bool).triu(1)
    assert filled(causal, None) == [0.0, 1.0, 0.0, 0.0, 1.0]
    assert filled(~causal, None) == [0.0, 0.0, 1.0, 1.0, 0.0]
    assert filled(torch.ones(5, 5, dtype=torch.bool).triu(2), None) == [0.0, pytest.approx(0.6), 0.0, 0.0, 0.0]
    tokens = torch.tensor([[4, 5, 0, 0], [3, 2, 1, 0], [5, 0, 0, 0], [6, 7, 0, 0]])
    tokens = tokens if side == "end" else tokens.flip(1)
    padding = tokens == 0
    assert filled(padding[:, None, None, :], tokens) == [1.0, 1.0, 0.0, 0.5]
    assert filled(~padding[:, None, None, :], tokens) == [1.0, 0.0, 1.0, 0.5]
    assert filled(padding[:, None, None, :], None) is None


@pytest.mark.parametrize("heads", [1, 3])
@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize("side", ["end", "beginning"])
def test_whom_an_attention_hides_shows_in_its_weights(heads: int, is_causal: bool, side: str) -> None:
    tokens = torch.tensor([[4, 5, 0, 0, 0], [3, 2, 1, 9, 0], [5, 3, 2, 2, 1], [6, 7, 7, 0, 0]])
    tokens = tokens if side == "end" else tokens.flip(1)
    padding = tokens == 0
    scores = torch.randn(4, heads, 5, 5)
    for mask, of_padding, of_others in ((padding, 1.0, 0.0), (~padding, 0.0, 1.0)):
        hidden = mask[:, None, None, :].expand(4, heads, 5, 5)
        if is_causal:
            hidden = hidden | torch.ones(5, 5, dtype=torch.bool).triu(1)
        weights = (scores + hidden * -1e9).softmax(dim=-1)
        known = hidden_by(weights, tokens)
        padding_hidden, others_hidden, share = known["hidden_keys"]
        assert (padding_hidden, others_hidden) == (of_padding, of_others)
        assert share == pytest.approx(6 / 15)  # of the three that have some
        if mask is padding:  # of what is no padding, a causal mask alone hides pairs
            assert known["pairs"] == [float(is_causal), 0.0, 0.0, float(is_causal)]
    causal = (scores + torch.ones(5, 5).triu(1) * -1e9).softmax(dim=-1)
    assert hidden_by(causal, None) == {"pairs": [1.0, 0.0, 0.0, 1.0]}
    assert hidden_by(scores.softmax(dim=-1), None) == {"pairs": [0.0, 0.0, 0.0, 0.0]}
    assert hidden_by(torch.rand(4, 1, 3), tokens) == {}  # of other places


@pytest.mark.parametrize("side", ["end", "beginning"])
def test_what_rows_are_filled_up_with(side: str) -> None:
    rows, expected = torch.randn(3, 5, 2), torch.zeros(3, 5, dtype=torch.bool)
    rows[0, 2:], rows[1, 3:], rows[2, 3] = 0, 0, 0
    expected[0, 2:], expected[1, 3:] = True, True
    tokens = torch.tensor([[4, 5, 0, 0, 0], [3, 2, 1, 9, 0], [4, 0, 1, 0, 0]])
    if side == "beginning":
        rows, expected, tokens = rows.flip(1), expected.flip(1), tokens.flip(1)
    found, of_tokens = padding_of(rows), padding_of(tokens)
    assert found is not None and found.tolist() == expected.tolist()
    ends = torch.tensor([[0, 0, 1, 1, 1], [0, 0, 0, 0, 1], [0, 0, 0, 1, 1]]).bool()
    assert of_tokens is not None and of_tokens.tolist() == (ends if side == "end" else ends.flip(1)).tolist()


def test_pairs_of_samples_that_have_none() -> None:
    tokens = torch.tensor([[0, 0, 0, 4], [0, 0, 0, 0]])
    assert list(hidden_by(torch.rand(2, 4, 4), torch.cat([tokens, tokens]))) == ["pairs"]  # of other samples
    assert list(hidden_by(torch.rand(4, 4, 4), tokens)) == ["hidden_keys"]


def test_what_rows_are_not_filled_up_with() -> None:
    assert padding_of(torch.randn(3, 4, 2)) is None and padding_of(torch.randn(3, 4)) is None
    assert padding_of(torch.zeros(3, 4, dtype=torch.long)) is None  # nothing else is there
    started = torch.tensor([[0, 4, 5, 0, 0], [0, 3, 2, 1, 0], [0, 4, 1, 2, 3]])  # all begin with the token of a start
    for rows in (started, torch.nn.functional.one_hot(started, 6)[..., 1:].float()):
        found = padding_of(rows)
        assert found is not None and found.sum(dim=1).tolist() == [2, 1, 0] and not bool(found[:, 0].any())
    ended = torch.tensor([[0, 0, 5, 7, 2], [0, 3, 4, 1, 2], [0, 0, 0, 3, 2], [3, 4, 1, 5, 2]])  # with that of an end
    found = padding_of(ended)
    assert found is not None and found.sum(dim=1).tolist() == [2, 1, 3, 0] and not bool(found[:, -1].any())


def test_samples_that_are_put_into_another_order() -> None:
    rows, labels = torch.randn(9, 3), torch.arange(9) % 3
    turned = torch.arange(8, -1, -1)

    def order(value: torch.Tensor, target: torch.Tensor) -> dict[str, list[float]]:
        seen = Reordered()
        seen.drawn([rows, {"label": labels}])
        seen.drawn([rows[turned], labels])  # another one, which comes too late
        seen.see_input(value)
        seen.see_target(target)
        return numbers_of(seen)

    assert order(rows, labels) == {"reordered": [0.0, 0.0]}
    assert order(rows[turned], labels) == {"reordered": [1.0, 0.0]}
    assert order(rows, labels[turned]) == {"reordered": [0.0, 1.0]}
    assert order(rows[turned], labels[turned]) == {"reordered": [1.0, 1.0]}
    long = torch.cat([rows] * 200, dim=1)
    masked = long.clone()
    masked[:, -5:] = 0  # of each sample a part is changed, behind what a print looks at
    seen = Reordered()
    seen.drawn([long, labels])
    seen.see_input(masked)
    seen.see_target(labels)
    assert numbers_of(seen) == {"reordered": [0.0, 0.0]}
    assert order(rows * 2, labels) == {}  # they are something else
    assert order(rows, labels.float()) == {}


def test_lengths_of_sequences_and_of_their_targets() -> None:
    tokens = torch.tensor([[3, 4, 5, 6, 7, 8], [3, 4, 5, 0, 0, 0], [3, 0, 0, 0, 0, 0], [3, 4, 5, 6, 0, 0]])

    def lengths(target: torch.Tensor) -> list[float]:
        numbers = Numbers()
        compared = Compared("nll_loss", (torch.randn(24, 9), target.reshape(-1)), LossOptions(-100))
        compared.add_padding(numbers, tokens)
        return named(numbers)["lengths"]

    ends = torch.where(tokens == 0, -100, tokens)
    assert lengths(ends) == [0.0, 1.0]
    assert lengths(ends[[1, 0, 3, 2]]) == [1.0, 1.0]
    assert lengths(torch.cat([ends[:, 1:], torch.full((4, 1), -100)], dim=1)) == [0.0, 0.0]  # the next ones
    assert lengths(ends[[1, 1, 1, 2]]) == [0.75, 0.0]


def test_samples_of_which_a_layer_gets_zeros_alone() -> None:
    rows = torch.randn(8, 3)
    rows[:2] = 0
    seen = EmptyRows()
    seen.see(nn.Linear(3, 2), (rows[:4],))  # too few to tell
    seen.see(nn.Linear(3, 2), (torch.zeros(8, 2, 3),))
    seen.see(nn.ReLU(), (rows,))
    assert numbers_of(seen) == {}
    seen.see(nn.Linear(3, 2), (rows,))
    seen.see(nn.Linear(3, 2), (torch.randn(8, 3),))
    assert numbers_of(seen)["empty_rows"] == [0.25]


def test_the_graph_tells_signs_and_masks() -> None:
    value = torch.randn(6, 5, 5, requires_grad=True)
    mask = torch.ones(5, 5, dtype=torch.bool).triu(1)
    loss = -(value.masked_fill(mask, 0.0) * torch.rand(6, 5, 5)).mean() / 2 * -3.0
    nodes = graph_of(loss, {}, [], None)[0]["nodes"]
    factors = [node[2].get("factor") for node in nodes if node[0] in ("Mul", "Div")]
    assert factors == [-1, 1, 1]
    assert [node[2]["filled"] for node in nodes if node[0] == "MaskedFill"] == [[0.0, 1.0, 0.0, 0.0, 1.0]]
    weights = (value + mask * -1e9).softmax(dim=2)
    assert graph_of(weights.sum(), {}, [], None)[1] and not graph_of(weights.sum(), {}, [], None, {value.data_ptr()})[1]
    nodes = graph_of(weights.sum(), {}, [], None)[0]["nodes"]
    assert [node[2]["pairs"] for node in nodes if node[0] == "Softmax"] == [[1.0, 0.0, 0.0, 1.0]]
    mixed = (value * torch.randn(6, 5, 5)).mean()
    assert [node[2]["factor"] for node in graph_of(mixed, {}, [], None)[0]["nodes"] if node[0] == "Mul"] == [0]


@pytest.mark.parametrize("noise", [0.0, 0.5])
@pytest.mark.parametrize("generator_target", [1.0, 0.0])
def test_what_a_generator_is_compared_with(generator_target: float, noise: float) -> None:
    seen = Adversaries()
    real, made = torch.randn(16, 30), torch.randn(16, 30, requires_grad=True) * 2

    def judge(value: torch.Tensor, target: float) -> None:
        seen.forward_begins(None, (value,))
        answer = value.sum(dim=1)
        seen.forward_ends(answer)
        seen.compared((answer, torch.full((16,), target)))

    judge(real, 1.0)
    seen.forward_begins(None, (torch.randn(4, 2),))  # noise
    seen.forward_ends(made)
    judge(made.detach() + noise * torch.randn(16, 30) if noise else made.detach(), 0.0)
    judge(made + noise * torch.randn(16, 30) if noise else made, generator_target)
    assert numbers_of(seen)["adversary"] == [1.0, 0.0, generator_target]


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_which_way_losses_pull_the_answers(sign: float) -> None:
    seen = Adversaries()
    made, factor = torch.randn(16, 30, requires_grad=True) * 2, torch.ones(30, requires_grad=True)

    def judge(value: torch.Tensor) -> torch.Tensor:
        seen.forward_begins(None, (value,))
        answer = (value * factor).sum(dim=1)
        seen.forward_ends(answer)
        return answer.mean()

    seen.forward_begins(None, (torch.randn(4, 2),))  # noise
    seen.forward_ends(made)
    (judge(made.detach()) - judge(torch.randn(16, 30))).backward()
    (sign * judge(made)).backward()
    assert numbers_of(seen)["adversary_pull"] == pytest.approx([-1 / 8, 1 / 8, sign / 8])


def test_a_training_without_a_generator_has_no_adversary() -> None:
    seen = Adversaries()
    seen.forward_begins(None, (torch.randn(4, 2),))
    seen.forward_ends(torch.randn(4))
    assert numbers_of(seen) == {}


def test_tokens_that_are_fed() -> None:
    target = torch.randint(1, 9, (4, 6))
    scores = torch.randn(4, 9, 6)
    shifted = torch.cat([torch.zeros(4, 1, dtype=torch.long), target[:, :-1]], dim=1)
    same = Fed()
    same.see(Compared("cross_entropy", (scores, target)), [target])
    assert numbers_of(same)["fed"][0] == 1 and numbers_of(same)["fed"][1] < 0.7
    taught = Fed()
    taught.see(Compared("cross_entropy", (scores, target)), [shifted])
    assert numbers_of(taught)["fed"][0] < 0.7 and numbers_of(taught)["fed"][1] == 1
    masked = Fed()  # of what counts nothing is there
    hidden = target.masked_fill(torch.ones(4, 6, dtype=torch.bool), 0)
    masked.see(Compared("cross_entropy", (scores, target)), [hidden])
    assert numbers_of(masked)["fed"][0] == 0


def test_tokens_that_are_fed_one_by_one() -> None:
    for is_fed in (True, False):
        fed = Fed()
        for _ in range(4):
            target = torch.randint(1, 9, (16,))
            fed.see(Compared("cross_entropy", (torch.randn(16, 9), target)), [target if is_fed else target + 1])
        assert numbers_of(fed)["fed"] == [float(is_fed), 0.0]
    once = Fed()  # labels of classes, as those of a conditional model
    once.see(Compared("cross_entropy", (torch.randn(16, 9), target)), [target])
    assert numbers_of(once) == {}


@pytest.mark.parametrize("layout", ["time first", "time last"])
def test_padding_of_numbers(layout: str) -> None:
    lengths = torch.tensor([3, 5, 8, 6])
    value = torch.randn(4, 8)
    filled_up = torch.arange(8)[None] >= lengths[:, None]
    value = torch.where(filled_up, value.gather(1, (lengths - 1)[:, None]), value)
    target, predicted = torch.randn(4, 8) * ~filled_up, torch.zeros(4, 8)
    if layout == "time last":
        value, target, predicted = value[:, None], target[:, None], predicted[:, None]
    numbers = Numbers()
    Compared("mse_loss", (predicted, target)).add_padding(numbers, value)
    share, varies, without = named(numbers)["padding"]
    stays = [6, 4, 0, 3]  # the last reading and what repeats it
    assert share == pytest.approx(sum(stays) / 32) and varies > 0.1
    kept = torch.tensor([[i < 8 - stays[row] for i in range(8)] for row in range(4)]).reshape(target.shape)
    assert without == pytest.approx(target[kept].square().mean().item())


def test_series_without_padding_have_none() -> None:
    numbers = Numbers()
    Compared("mse_loss", (torch.zeros(4, 8), torch.randn(4, 8))).add_padding(numbers, torch.randn(4, 8))
    assert named(numbers)["padding"][0] == 0 and not math.isnan(named(numbers)["padding"][2])


def test_a_feature_of_any_input_that_says_the_target() -> None:
    target = torch.randint(0, 2, (32,)).float()
    tokens, features = torch.randint(0, 9, (32, 3)), torch.randn(32, 5)
    told = features.clone()
    told[:, 3] = target + 0.01 * torch.randn(32)
    for given, is_told in ((features, False), (told, True)):
        numbers = Numbers()
        Compared("mse_loss", (torch.zeros(32), target)).add_telling(numbers, [tokens, given])
        share, which, _ = named(numbers)["telling"]
        assert (share > 0.98 and which == 3) == is_told


def test_how_sharp_an_attention_is_and_whom_it_hides() -> None:
    queries, keys = torch.randn(2, 4, 8, 6, requires_grad=True), torch.randn(2, 4, 8, 6)
    for scale, is_sharp in ((1000.0, True), (0.01, False)):
        scores = queries @ keys.transpose(-2, -1) * scale
        nodes = graph_of(scores.softmax(-1).sum(), {}, [], None)[0]["nodes"]
        known = next(each[2] for each in nodes if each[0] == "Softmax")
        assert (known["queries"], known["keys"]) == (8, 8)
        assert (known["peak"] > 0.95) == is_sharp and known["peak"] <= 1


def test_a_mask_of_keys_with_a_token_of_the_class_before_them() -> None:
    tokens = torch.tensor([[3, 4, 0, 0], [5, 0, 0, 0], [6, 7, 8, 0]])
    shown = torch.cat([torch.ones(3, 1, dtype=torch.bool), tokens != 0], 1)
    assert filled(~shown[:, None, None, :], tokens) == [1.0, 1.0, 0.0, 0.5]
    assert filled(shown[:, None, None, :], tokens) == [1.0, 0.0, 1.0, 0.5]
    assert filled(torch.ones(3, 1, 1, 12, dtype=torch.bool), tokens) is None
