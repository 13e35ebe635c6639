"""What an examination for a diagnosis measures, what it costs, and that the training does not feel it."""

from __future__ import annotations

import copy
import gc
import itertools
import json
import random
import time
from pathlib import Path
from typing import Any, Iterator, Optional

import numpy as np
import pytest
import torch
from asking import ask_for_examination
from torch import nn

import trainwarden
import trainwarden.torch as twt
from trainwarden.torch.examination import allowance, batches, description, examiner, graph, optimizers, program_calls, seeds
from trainwarden.torch.examination.allowance import Allowance

_PREFIX = "trainwarden/examination/"


@pytest.fixture
def usual_time() -> None:
    """For tests of how much time there is; the others have plenty, however busy the machine is."""


def forget_models() -> None:
    """A thread that samples may hold the session of the test before, and with it a model, for a moment more."""
    deadline = time.monotonic() + 60
    gc.collect()
    while any(isinstance(each, Net) for each in gc.get_objects()) and time.monotonic() < deadline:
        time.sleep(0.01)
        gc.collect()


@pytest.fixture(autouse=True)
def examined(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[None]:
    monkeypatch.setenv("TRAINWARDEN_EXAMINE", "1")
    if "usual_time" not in request.fixturenames:
        monkeypatch.setattr(allowance, "START_SECONDS", 60.0)
    forget_models()  # those of the tests before are none of this one
    yield
    twt.detach()


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(4, 8)
        self.hidden = [nn.Linear(8, 8)]  # not registered
        self.last = nn.Linear(8, 3)

    def forward(self, value: torch.Tensor) -> torch.Tensor:
        value = torch.relu(self.first(value))
        return self.last(torch.relu(self.hidden[0](value)))


def train(steps: int, run: Optional[Path] = None, net: Optional[nn.Module] = None) -> list[torch.Tensor]:
    """The parameters at the end."""
    torch.manual_seed(0)
    net = net or Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.5)
    if run is not None:
        twt.attach(str(run))
    for _ in range(steps):
        value = torch.randn(16, 4)
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(value), (value[:, 0] > 0).long()).backward()
        optimizer.step()
    if run is not None:
        twt.detach()
    return [each.detach().clone() for each in net.parameters()]


def records(run: Path) -> list[dict[str, list[float]]]:
    """By name, as docs/format/examination.md says."""
    trial, layout, found = trainwarden.open(run), [], []
    for step in trial.steps():
        names = trial.tensor_names(step=step)
        if _PREFIX + "layout" in names:
            layout = json.loads(trial.value(_PREFIX + "layout", step)[0])["layout"]
        if _PREFIX + "numbers" not in names:
            continue
        numbers, at, record = list(trial.value(_PREFIX + "numbers", step)), 0, {}
        for name, count in layout:
            record[name] = numbers[at : at + count]
            at += count
        assert at == len(numbers)
        found.append(record)
    return found


def texts(run: Path, name: str) -> list[Any]:
    trial, name = trainwarden.open(run), _PREFIX + name
    return [json.loads(trial.value(name, step)[0]) for step in trial.steps() if name in trial.tensor_names(step=step)]


def text(run: Path, name: str) -> Any:
    return texts(run, name)[0]


def test_a_training_is_what_it_is_without_it(tmp_path: Path) -> None:
    plain = train(40)
    for mine, theirs in zip(train(40, tmp_path / "run"), plain):
        assert torch.equal(mine, theirs)


def test_what_is_measured(tmp_path: Path) -> None:
    train(3, tmp_path / "run")
    first = records(tmp_path / "run")[0]
    assert first["step"] == [0]
    assert first["compared_loss"] == pytest.approx(first["loss"])
    assert sum(first["labels"]) == 16 and len(first["labels"]) == 3
    assert first["input_shape"] == [16, 4]
    assert len(first["gradient"]) == 6 and min(first["gradient"]) > 0
    updates = [update for update in first["update"] if update > 0]
    assert len(updates) == 4  # and none of the layer that no optimizer has
    for update, gradient in zip(first["update"], first["gradient"]):
        assert update == 0 or update == pytest.approx(0.1 * gradient, rel=1e-3)


def test_steps_that_somebody_asks_for_are_examined_whatever_time_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, usual_time: None
) -> None:
    monkeypatch.setattr(allowance, "START_SECONDS", 0.0)
    monkeypatch.setattr(allowance, "SHARE", 0.0)
    run, net = tmp_path / "run", Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    twt.attach(str(run))
    deadline = time.monotonic() + 60
    for step in itertools.count():
        optimizer.zero_grad()
        net(torch.randn(16, 4)).sum().backward()
        optimizer.step()
        if step == 20:
            ask_for_examination(run, steps=3)
        if step > 20:
            time.sleep(0.001)
        if step % 200 == 100:
            if len([each for each in records(run) if "gradient" in each]) == 5:
                break
            assert time.monotonic() < deadline
    twt.detach()
    examined = [int(each["step"][0]) for each in records(run) if "gradient" in each]
    assert examined[:2] == [0, 1]  # which always are
    assert len(examined) == 5 and examined[2] > 20
    assert examined[3:] == [examined[2] + 1, examined[2] + 2]


def test_the_structure_names_what_is_not_registered(tmp_path: Path) -> None:
    train(3, tmp_path / "run")
    structure = text(tmp_path / "run", "structure")
    assert structure["unregistered"] == [{"module": "", "attribute": "hidden", "count": 1, "kind": "Linear"}]
    owners = {each["name"]: each["optimizers"] for each in structure["parameters"]}
    registered = {"first.weight": [0], "first.bias": [0], "last.weight": [0], "last.bias": [0]}
    assert owners == {**registered, "Linear.weight": [], "Linear.bias": []}
    assert structure["places"]["backward"].split(":")[0].endswith("test_examination.py")


def test_the_graph_leads_from_the_loss_to_the_parameters(tmp_path: Path) -> None:
    train(3, tmp_path / "run")
    graph = text(tmp_path / "run", "graph")
    assert graph["complete"]
    assert [node[0] for node in graph["nodes"][:2]] == ["NllLoss", "LogSoftmax"]
    assert {node[2]["number"] for node in graph["nodes"] if node[0] == "parameter"} == set(range(6))


def test_weights_that_something_else_changes(tmp_path: Path) -> None:
    class Meddling(Net):
        def forward(self, value: torch.Tensor) -> torch.Tensor:
            with torch.no_grad():
                self.first.weight.data[0, 0] += 1.0
            return super().forward(value)

    torch.manual_seed(0)
    train(4, tmp_path / "run", Meddling())
    shares = [each["changed_share"] for each in records(tmp_path / "run") if "changed_share" in each]
    assert shares and all(share[0] == pytest.approx(1 / 32) and max(share[1:]) == 0 for share in shares)


def test_the_next_training_of_the_process_begins_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, usual_time: None
) -> None:
    monkeypatch.setattr("trainwarden.torch.examination.allowance.START_SECONDS", 60.0)  # on a machine that is busy, too
    twt.attach(str(tmp_path / "run"))
    for _ in range(2):
        train(30)
    twt.detach()
    found = records(tmp_path / "run")
    begins = [record["step"][0] for record in found if record["training"] == [1]]
    assert {record["training"][0] for record in found} == {0, 1}
    assert 30 < begins[0] < 45 and begins[:4] == [begins[0] + i for i in range(4)]
    trial = trainwarden.open(tmp_path / "run")
    noted = [step for step in trial.steps() if _PREFIX + "training" in trial.tensor_names(step=step)]
    assert len(noted) == 1 and noted[0] <= begins[0]


def test_an_optimizer_that_is_made_again_is_no_new_training(tmp_path: Path) -> None:
    twt.attach(str(tmp_path / "run"))
    net = nn.Linear(4, 3)
    for _ in range(25):
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(torch.randn(8, 4)), torch.zeros(8, dtype=torch.int64)).backward()
        optimizer.step()
    twt.detach()
    found = records(tmp_path / "run")
    assert {record["training"][0] for record in found} == {0}
    assert found[-1]["counts"][9] >= 23


def test_seeds_and_states_that_the_program_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    program_calls.watch()
    seeds.take()
    torch.manual_seed(7)
    torch.random.manual_seed(8)
    assert seeds.take() == [7, 8] and seeds.take() == []
    random.seed(9)
    first = random.random()
    random.seed(a=9)
    assert random.random() == first == random.Random(9).random()
    np.random.seed(10)
    assert np.random.default_rng(11).integers(5) == np.random.default_rng(seed=11).integers(5)
    random.Random().random()  # no seed of the program's
    assert seeds.take() == [9, 9, 9, 10, 11, 11]
    monkeypatch.setattr(program_calls, "loaded", [])
    net = nn.Linear(4, 3)
    state = {"module." + name: value for name, value in net.state_dict().items()}
    assert net.load_state_dict(state, strict=False).unexpected_keys == list(state)
    assert program_calls.loaded == [program_calls.Loaded("Linear", 2, 2, 2, 0)]
    net.load_state_dict(net.state_dict())
    assert program_calls.loaded[1].missing == 0


def test_a_fault_of_its_own_ends_it_and_not_the_training(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = train(10)

    def fail(*_: Any) -> None:
        raise ValueError("broken")

    monkeypatch.setattr(description, "describe", fail)
    monkeypatch.setattr(examiner, "_MAX_FAULTS", 1)
    for mine, theirs in zip(train(10, tmp_path / "run"), plain):
        assert torch.equal(mine, theirs)
    assert records(tmp_path / "run") == []


def test_what_it_cannot_look_at_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> None:
        raise ValueError("broken")

    monkeypatch.setattr(graph, "graph_of", fail)
    train(10, tmp_path / "run")
    found = records(tmp_path / "run")
    assert len(found) > 5 and all(len(record["gradient"]) == 6 for record in found[:-1])


def test_it_is_off_unless_it_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TRAINWARDEN_EXAMINE")
    train(4, tmp_path / "run")
    assert records(tmp_path / "run") == []


def test_it_looks_although_nothing_else_is_wanted_of_the_steps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, usual_time: None
) -> None:
    """Steps that are only counted, without a line of Python in the hook, end when it is time for a look."""
    for name, value in {"SAVE_INTERVAL": "1000", "SAVE_ALL": "1"}.items():
        monkeypatch.setenv(f"TRAINWARDEN_{name}", value)
    monkeypatch.setattr(Allowance, "_light_left", lambda self: 0.0)
    monkeypatch.setattr(allowance, "START_SECONDS", 60.0)
    train(120, tmp_path / "run")
    looks = [record["step"][0] for record in records(tmp_path / "run") if "gradient" in record]
    assert len(looks) >= 12 and looks[-1] >= 90
    assert max(later / max(4, earlier) for earlier, later in zip(looks, looks[1:])) < 1.8


def test_layers_in_lists_within_lists_are_not_registered(tmp_path: Path) -> None:
    class Nested(Net):
        def __init__(self) -> None:
            super().__init__()
            self.hidden = [nn.Identity()]
            self.pairs = {"one": [(nn.Linear(8, 8), nn.Linear(8, 8))]}

        def forward(self, value: torch.Tensor) -> torch.Tensor:
            one, other = self.pairs["one"][0]
            return self.last(torch.relu(other(one(self.first(value)))))

    train(3, tmp_path / "run", Nested())
    assert text(tmp_path / "run", "structure")["unregistered"] == [
        {"module": "", "attribute": "pairs", "count": 2, "kind": "Linear"}
    ]


def test_weights_that_are_changed_now_and_then(tmp_path: Path) -> None:
    class Meddling(Net):
        calls = 0

        def forward(self, value: torch.Tensor) -> torch.Tensor:
            self.calls += 1
            if self.calls % 5 == 0:
                with torch.no_grad():
                    self.first.weight.data.mul_(1.01)
            return super().forward(value)

    train(40, tmp_path / "plain")
    train(40, tmp_path / "run", Meddling())
    for name, is_changed in (("plain", False), ("run", True)):
        pairs = [each["outside"] for each in records(tmp_path / name) if "outside" in each]
        changed, compared = sum(each[0] for each in pairs), sum(each[1] for each in pairs)
        assert compared >= 20
        assert (changed >= compared / 8) if is_changed else (changed == 0)


def test_samples_have_the_same_print_in_training_and_evaluation(tmp_path: Path) -> None:
    torch.manual_seed(0)
    net, data, other = Net(), torch.randn(16, 4), torch.randn(16, 4)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    twt.attach(str(tmp_path / "run"))
    for _ in range(4):
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(data), (data[:, 0] > 0).long()).backward()
        optimizer.step()
    net.eval()
    with torch.no_grad():
        net(data.flip(0))
        net(other)
    net.train()
    nn.functional.cross_entropy(net(data), (data[:, 0] > 0).long()).backward()
    optimizer.step()
    twt.detach()
    found = records(tmp_path / "run")
    trained = next(set(each["row_prints"]) for each in found if "row_prints" in each)
    evaluated = next(each["eval_rows"] for each in found if "eval_rows" in each)
    assert len(trained) == 16 and len(evaluated) == 32
    assert set(evaluated[:16]) == trained and not trained & set(evaluated[16:])


def test_a_tensor_of_the_programs_own_is_a_leaf_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph, "_READ_AT", (0, 3))
    torch.manual_seed(0)
    weights, stray = torch.randn(3, requires_grad=True), torch.zeros(1, requires_grad=True)
    optimizer = torch.optim.SGD([weights], lr=0.1)
    twt.attach(str(tmp_path / "run"))
    for _ in range(6):
        x = torch.randn(8, 3)
        optimizer.zero_grad()
        (x @ weights + stray - x.sum(dim=1)).square().mean().backward()
        optimizer.step()
    twt.detach()
    trial = trainwarden.open(tmp_path / "run")
    steps = [step for step in trial.steps() if _PREFIX + "graph" in trial.tensor_names(step=step)]
    graphs = [json.loads(trial.value(_PREFIX + "graph", step)[0]) for step in steps]
    leaves = [[node[2] for node in graph["nodes"] if node[0] == "leaf"] for graph in graphs]
    assert leaves == [[{"again": False, "sizes": [1]}], [{"again": True, "sizes": [1]}]]


@pytest.mark.parametrize("is_rehearsed", [True, False])
def test_a_pass_before_the_one_that_is_learned_from_is_no_evaluation(tmp_path: Path, is_rehearsed: bool) -> None:
    """Scheduled sampling: the same input without gradients, and with them."""
    net = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.1), nn.Linear(8, 1))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    twt.attach(str(tmp_path / "run"))
    for _ in range(6):
        value = torch.randn(16, 4)
        with torch.no_grad():
            net(value if is_rehearsed else torch.randn(16, 4))
        optimizer.zero_grad()
        net(value).square().mean().backward()
        optimizer.step()
    twt.detach()
    assert (records(tmp_path / "run")[-1]["counts"][5] == 0) == is_rehearsed


def test_what_was_described_stays_when_the_optimizer_alone_is_left(tmp_path: Path) -> None:
    def program() -> torch.optim.Optimizer:
        net = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Linear(8, 3))
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(6):
            optimizer.zero_grad()
            net(torch.randn(16, 4)).square().mean().backward()
            optimizer.step()
        net.load_state_dict({name: value.clone() for name, value in net.state_dict().items()})  # the best, as many do
        return optimizer

    twt.attach(str(tmp_path / "run"))
    left = program()
    gc.collect()
    twt.detach()
    last = texts(tmp_path / "run", "structure")[-1]
    assert left is not None and len(last["loaded"]) == 1
    assert [each["name"] for each in last["parameters"]][:2] == ["0.weight", "0.bias"]
    assert "BatchNorm1d" in [each["kind"] for each in last["modules"]]


def test_parameters_that_are_unfrozen_are_described_anew(tmp_path: Path) -> None:
    net = Net()
    net.first.requires_grad_(False)
    optimizer = torch.optim.SGD(net.last.parameters(), lr=0.1)
    twt.attach(str(tmp_path / "run"))
    for step in range(12):
        if step == 9:  # what is written at the start, and every eighth time, has been written
            net.first.requires_grad_(True)
        optimizer.zero_grad()
        net(torch.randn(16, 4)).square().mean().backward()
        optimizer.step()
    twt.detach()
    described = texts(tmp_path / "run", "structure")
    wanting = [next(each["trainable"] for each in of["parameters"] if each["name"] == "first.weight") for of in described]
    assert wanting[0] is False and wanting[-1] is True
    assert len(described) < 8  # not at every look


def test_what_was_described_stays_when_the_program_drops_its_model(tmp_path: Path) -> None:
    train(4, tmp_path / "run")
    assert len(texts(tmp_path / "run", "structure")[-1]["parameters"]) == 6


@pytest.mark.parametrize("is_copied", [True, False])
def test_a_state_that_is_the_model_itself(monkeypatch: pytest.MonkeyPatch, is_copied: bool) -> None:
    monkeypatch.setattr(program_calls, "loaded", [])
    program_calls.watch()
    net = nn.Linear(3, 2)
    best = net.state_dict()
    best = {name: value.clone() for name, value in best.items()} if is_copied else best
    net.load_state_dict(best)
    assert program_calls.loaded == [program_calls.Loaded("Linear", 2, 0, 0, 0 if is_copied else 2)]


@pytest.mark.parametrize("asks_for_the_mode", [True, False])
def test_random_numbers_in_evaluation(tmp_path: Path, asks_for_the_mode: bool) -> None:
    class Dropping(Net):
        def forward(self, value: torch.Tensor) -> torch.Tensor:
            return nn.functional.dropout(super().forward(value), 0.5, training=self.training or not asks_for_the_mode)

    torch.manual_seed(0)
    net = Dropping()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    twt.attach(str(tmp_path / "run"))
    for _ in range(3):
        net.train()
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(torch.randn(16, 4)), torch.randint(0, 3, (16,))).backward()
        optimizer.step()
        net.eval()
        with torch.no_grad():
            for _ in range(2):
                net(torch.randn(16, 4))
    twt.detach()
    found = [record["eval_random"] for record in records(tmp_path / "run") if "eval_random" in record]
    assert found and all(moved == (0 if asks_for_the_mode else calls) for calls, moved, _ in found)
    assert all(repeats == 0 for _, _, repeats in found)
    place = texts(tmp_path / "run", "structure")[-1]["places"].get("dropout")
    assert place is None if asks_for_the_mode else place.split(":")[0].endswith("test_examination.py")
    assert nn.functional.dropout(torch.ones(4), 0.0, True).tolist() == [1.0] * 4


def test_what_tells_of_the_target() -> None:
    def telling(value: torch.Tensor, target: torch.Tensor) -> list[float]:
        numbers = batches.Numbers()
        batches.Compared("mse_loss", (target.float(), target)).add_telling(numbers, [value])
        return [round(float(each), 3) for each in numbers.tensor()]

    torch.manual_seed(0)
    target, rows = torch.randint(0, 2, (64,)), torch.randn(64, 5)
    assert telling(rows, target)[0] < 0.9
    filled = rows.clone()
    filled[:, 3] = torch.where(target == 1, rows[:, 3].abs() + 0.5, torch.zeros(64))
    assert telling(filled, target) == [1, 3, 1]  # that it is there, not how much it is
    series = torch.randn(64, 6, 2)
    assert telling(series, series[:, -1, 0]) == [1, 10, 2]


def test_an_autoencoder_of_images_has_no_padding() -> None:
    def names(value: torch.Tensor, target: torch.Tensor) -> list[str]:
        numbers = batches.Numbers()
        batches.Compared("mse_loss", (torch.zeros_like(target), target)).add_padding(numbers, value)
        return [name for name, _ in numbers._layout]

    images = torch.rand(8, 16)
    images[:, 10:] = 0
    assert names(images, images.clone()) == []
    assert names(images, images + 1) == ["padding"]


def test_averages_of_weights_that_have_no_statistics(tmp_path: Path) -> None:
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 3))
    average = copy.deepcopy(net).eval()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    twt.attach(str(tmp_path / "run"))
    for evaluated in (net, average):
        for _ in range(4):
            optimizer.zero_grad()
            nn.functional.cross_entropy(net(torch.randn(16, 4)), torch.zeros(16).long()).backward()
            optimizer.step()
        net.eval()
        with torch.no_grad():
            net(torch.randn(16, 4))
            evaluated(torch.randn(16, 4))
        net.train()
    twt.detach()
    norms = [each["eval_norms"] for each in records(tmp_path / "run") if "eval_norms" in each]
    assert norms == [[1, 0], [1, 1]]


def test_what_a_discriminator_gets(tmp_path: Path) -> None:
    torch.manual_seed(0)
    maker, judge = nn.Sequential(nn.Linear(2, 2), nn.Sigmoid()), nn.Linear(2, 1)
    optimizers = [torch.optim.SGD(each.parameters(), lr=0.1) for each in (maker, judge)]
    twt.attach(str(tmp_path / "run"))
    for _ in range(3):
        made = maker(torch.randn(16, 2))
        for optimizer in optimizers:
            optimizer.zero_grad()
        (judge(torch.full((16, 2), -3.0)) - judge(made)).mean().backward()
        for optimizer in optimizers:
            optimizer.step()
    twt.detach()
    low, high, made_low, made_high, noise = records(tmp_path / "run")[0]["adversary_ranges"]
    assert (low, high, noise) == (-3, -3, 0) and 0 < made_low < made_high < 1
