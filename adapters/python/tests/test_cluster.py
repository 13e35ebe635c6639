"""The place of a process in a cluster, as TF_CONFIG says it."""

from __future__ import annotations

import json
from typing import Any, Optional

import pytest

from trainwarden._cluster import rank_and_size

WORKERS = {"worker": ["a:1", "b:1"]}
WITH_CHIEF = {"chief": ["c:1"], "worker": ["a:1", "b:1"], "ps": ["p:1"]}


@pytest.mark.parametrize(
    ("cluster", "task", "index", "place"),
    [
        (WORKERS, "worker", 1, (1, 2)),
        (WITH_CHIEF, "chief", 0, (0, 3)),
        (WITH_CHIEF, "worker", 1, (2, 3)),
        (WITH_CHIEF, "ps", 0, None),
        (WITH_CHIEF, "evaluator", 0, None),
        ({"chief": ["c:1"], "ps": ["p:1"]}, "chief", 0, None),
    ],
)
def test_ranks_are_those_of_who_trains(
    monkeypatch: pytest.MonkeyPatch, cluster: dict[str, list[str]], task: str, index: int, place: Optional[Any]
) -> None:
    monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": cluster, "task": {"type": task, "index": index}}))
    assert rank_and_size() == place


@pytest.mark.parametrize("text", ["", "{}", "[]", "no JSON", '{"cluster": {"worker": ["a"]}, "task": 3}'])
def test_what_says_nothing_is_nothing(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("TF_CONFIG", text)
    assert rank_and_size() is None
