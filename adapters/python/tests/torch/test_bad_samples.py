"""What is wrong with a batch, and what lies behind its samples, without running code of the program for it."""

from __future__ import annotations

import inspect
import json
import math
import pathlib
import types
from pathlib import Path
from typing import Any, Optional

import numpy as np
import pytest
import torch
from torch.utils.data import ConcatDataset, DataLoader, Dataset, Subset, TensorDataset

import trainwarden
from running import Runner
from trainwarden.torch import interception
from trainwarden.torch.bad_samples import Taken, look
from trainwarden.torch.sample_sources import Source, source_of


class Files(Dataset[Any]):
    """Of so many samples; a field of it is given. Its code is not to be run."""

    def __init__(self, count: int = 4, **fields: Any) -> None:
        self.count = count
        self.__dict__.update(fields)

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> Any:
        raise AssertionError("the program's code was run")

    @property
    def paths(self) -> Any:
        raise AssertionError("the program's code was run")


def names(count: int = 4) -> list[str]:
    return [f"data/train/cat/{i:04d}.jpg" for i in range(count)]


def test_files_that_a_data_set_lists() -> None:
    wanted = "data/train/cat/0002.jpg"
    table = [{"label": 1, "file_name": name} for name in names()]
    fields: list[dict[str, Any]] = [
        {"samples": [(name, 0) for name in names()]},  # ImageFolder and DatasetFolder of torchvision
        {"imgs": tuple(names())},
        {"image_paths": [pathlib.Path(name) for name in names()]},
        {"files": np.array(names())},
        {"files": np.array(names(), dtype=object)},
        {"records": table},
    ]
    for each in fields:
        assert source_of(Files(**each), 2) == Source("Files", wanted), each


def test_a_list_of_something_else_says_nothing() -> None:
    fields: list[dict[str, Any]] = [
        {"files": names(2)},  # shards, of two samples each
        {"samples": [torch.ones(1)] * 4},
        {"samples": ["what was said, word by word"] * 4},  # a sample itself is not told
        {"classes": names()},
        {"items": {0: "a.jpg"}},
        {},
    ]
    for each in fields:
        assert source_of(Files(**each), 1) == Source("Files", None), each
    assert source_of(Files(samples=names()), 17).text is None
    assert source_of(Files(samples=names()), -1).text is None
    assert source_of(object(), 0) == Source("object", None)


def test_long_names_end_as_they_do() -> None:
    text = source_of(Files(samples=["x" * 5000 + "/a.jpg"] * 4), 0).text
    assert text is not None and len(text) < 300 and text.startswith("...") and text.endswith("/a.jpg")


class Wrapped(Dataset[Any]):
    """As programs put transforms around a part of another one."""

    def __init__(self, subset: Any) -> None:
        self.subset = subset
        self.transform = None

    def __len__(self) -> int:
        return len(self.subset)


def test_data_sets_within_data_sets() -> None:
    files = Files(samples=names())
    assert source_of(Subset(files, [3, 1]), 1) == Source("Files", names()[1])
    assert source_of(Subset(files, torch.tensor([3, 1])), 0) == Source("Files", names()[3])  # type: ignore[arg-type]
    assert source_of(Wrapped(Subset(files, range(2, 4))), 0) == Source("Files", names()[2])
    both = ConcatDataset([Files(2, samples=["a.jpg", "b.jpg"]), Subset(files, [2])])
    assert [source_of(both, i).text for i in range(3)] == ["a.jpg", "b.jpg", names()[2]]
    rows = Subset(TensorDataset(torch.zeros(9, 2)), [8, 0])
    assert source_of(rows, 0) == Source("TensorDataset", "row 8")
    assert source_of(TensorDataset(torch.zeros(9, 2)), 5) == Source("TensorDataset", None)
    circle = Wrapped(None)
    circle.subset = circle
    circle.__class__ = type("Endless", (Wrapped,), {"__len__": lambda self: 4})
    assert source_of(circle, 0).text is None


def test_a_table() -> None:
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"label": [0, 1], "image_path": ["a b.png", "c.png"]}, index=[10, 20])
    assert source_of(Files(2, df=table), 0).text == "a b.png"
    assert source_of(Files(2, df=table[["label"]]), 1).text == "row 20"
    assert source_of(Files(3, df=table), 0).text is None  # of other samples


class _Column(list):  # type: ignore[type-arg]
    def __getitem__(self, index: Any) -> Any:
        return types.SimpleNamespace(as_py=lambda: list.__getitem__(self, index))


class _Table:
    def __init__(self, **columns: list[Any]) -> None:
        self.columns = columns
        self.column_names = list(columns)

    def column(self, name: Any) -> _Column:
        return _Column(self.columns[name] if isinstance(name, str) else list(self.columns.values())[name])


def test_a_data_set_of_hugging_face() -> None:
    # The library is not there: this is what its Dataset keeps in itself, tables of Arrow.
    kind: Any = type("Dataset", (), {"__module__": "datasets.arrow_dataset", "__len__": lambda self: 2})
    moved, plain = kind(), kind()
    moved._data, moved._indices = _Table(image=[{"bytes": b"", "path": "a.png"}, {"path": "b.png"}]), _Table(i=[1, 0])
    plain._data, plain._indices = _Table(text=["words of a sample", "more of them"]), None
    assert source_of(moved, 0) == Source("Dataset", "b.png")
    assert source_of(plain, 1) == Source("Dataset", "row 1")


# What is wrong with a batch.


def found_in(value: Any, indices: Optional[list[int]] = None, workers: int = 0, in_full: bool = False) -> Any:
    files = Files(100, samples=names(100))
    return look(indices, 2, 5, Taken(value, files, workers, "train.py:20"), in_full)


def test_values_that_are_not_finite() -> None:
    for bad in (math.nan, math.inf):
        batch = torch.ones(8, 3, 4)
        batch[6, 2, 1] = bad
        found = found_in([torch.arange(8), {"x": batch}], list(range(40, 48)), workers=3)
        assert found == {
            "kind": "not_finite", "tensor": 1, "count": 1, "epoch": 2, "number": 5, "worker": 2, "place": "train.py:20",
            "data_set": "Files", "samples": [{"row": 6, "index": 46, "source": "data/train/cat/0046.jpg"}],
        }  # fmt: skip


def test_of_many_bad_samples_the_first_are_named() -> None:
    found = found_in(torch.full((64, 2), math.nan), list(range(64)))
    assert found["count"] == 64 and [each["row"] for each in found["samples"]] == [0, 1, 2, 3]
    assert "worker" not in found


def test_a_batch_that_is_no_list_of_samples_has_rows_alone() -> None:
    batch = torch.ones(8, 2)
    batch[3] = math.nan
    for indices in (None, [1, 2, 3], [(1, 2)] * 8):
        found = found_in(batch, indices)  # type: ignore[arg-type]
        assert found["samples"] == [{"row": 3}] and "data_set" not in found


def test_what_is_no_fault() -> None:
    mask = torch.zeros(8, 8).masked_fill(torch.ones(8, 8).triu(1) > 0, -math.inf)
    large = torch.full((4, 4), 3e38)  # whose sum overflows
    for value in (torch.ones(8, 2), mask, large, torch.ones(0, 3), torch.arange(9), "text", None, torch.tensor(math.nan)):
        assert found_in(value) is None


def test_of_large_batches_a_part_is_looked_at() -> None:
    batch = torch.zeros(16, 3, 256, 256)
    batch[9] = math.nan
    assert [each["row"] for each in found_in(batch)["samples"]] == [9]
    assert found_in(batch.permute(0, 2, 3, 1)) is None  # it is not copied for that


def test_what_a_full_examination_finds_besides() -> None:
    torch.manual_seed(0)
    batch = torch.randn(32, 4)
    assert found_in(batch, in_full=True) is None
    batch[7, 2] = -999.0
    assert found_in(batch) is None
    found = found_in(batch, list(range(32)), in_full=True)
    assert (found["kind"], found["value"], found["samples"][0]["index"]) == ("outlier", -999, 7)
    same = found_in(torch.rand(4).repeat(8, 1), in_full=True)
    assert (same["kind"], same["count"]) == ("same", 8)


# In a program.

_PROGRAM = """
import sys, torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, Subset


class Images(Dataset):
    def __init__(self):
        self.samples = [(f"train/{i:03d}.jpg", i % 2) for i in range(64)]

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, i):
        return torch.full((4,), float("nan") if i == 30 else i / 64), i % 2


torch.manual_seed(0)
loader = DataLoader(Subset(Images(), range(24, 60)), batch_size=4, num_workers=int(sys.argv[1]))
model = nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in loader:
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()
"""


@pytest.mark.parametrize("workers", ["0", "2"])
@pytest.mark.parametrize("is_examined", [False, True], ids=["signals", "examination alone"])
def test_a_program(runner: Runner, tmp_path: Path, workers: str, is_examined: bool) -> None:
    program = tmp_path / "train.py"
    program.write_text(_PROGRAM)
    collections = ["losses"] if is_examined else ["signals"]
    config = {"include_collections": collections, "save": {"save_interval": 1000 if is_examined else 1}}
    environment = runner.attached_environment(tmp_path / "run", {**config, "when_full": "block"})
    if is_examined:
        environment["TRAINWARDEN_EXAMINE"] = "1"
    ended = runner.start(str(program), workers, environment=environment)
    assert (ended.stderr, ended.exit_code) == ("", 0)
    trial, name = trainwarden.open(tmp_path / "run"), "trainwarden/batch/bad_samples"
    (step,) = trial.tensor(name).steps()
    (batch,) = json.loads(trial.value(name, step)[0])["batches"]
    worker = {"worker": 1} if workers == "2" else {}
    line = next(i for i, text in enumerate(_PROGRAM.splitlines(), 1) if text.startswith("loader ="))
    assert step == 1 and batch == {  # the first two are examined in full however slow the machine is
        "kind": "not_finite", "tensor": 0, "count": 1, "epoch": 0, "number": 1, "data_set": "Images", **worker,
        "place": f"{program}:{line}", "samples": [{"row": 2, "index": 6, "source": "train/030.jpg"}],
    }  # fmt: skip


def test_loaders_look_as_before() -> None:
    """Lightning makes loaders anew from the signature of their class."""
    interception.switch_on()
    assert list(inspect.signature(DataLoader.__init__).parameters)[:3] == ["self", "dataset", "batch_size"]


def test_a_loader_without_a_hash_can_be_made() -> None:
    class Compared(DataLoader[Any]):
        def __eq__(self, other: object) -> bool:
            return self is other

    interception.switch_on()
    assert len(Compared(TensorDataset(torch.zeros(4, 1)))) == 4
