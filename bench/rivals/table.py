"""What the race has measured: medians, what they are of ours, and tables of them."""

from __future__ import annotations

import statistics
from dataclasses import dataclass, field
from typing import Any

from loads import Load

OPERATIONS = {
    "write": "write all, closed",
    "synced": "and synced",
    "open": "open",
    "list": "list names and steps",
    "tensor": "one tensor, all steps",
    "step": "all tensors, one step",
    "live": "seen live, after",
    "bytes": "on disk",
}
TIMES = [operation for operation in OPERATIONS if operation != "bytes"]
OURS = ("ours", "trainwarden")  # in C++, in Python
LIMIT = "plain"
WORST_OF_SMDEBUG = 10.0  # times as fast as smdebug
WRITE_SHARE = 0.9  # of plain write(), where bytes count


@dataclass
class Results:
    """Medians by load, operation and contender."""

    versions: dict[str, str] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    failures: dict[tuple[str, str], str] = field(default_factory=dict)
    slow: set[tuple[str, str]] = field(default_factory=set)  # took part in one round
    rounds: dict[tuple[str, str, str], list[float]] = field(default_factory=dict)

    def add(self, load: str, operation: str, contender: str, values: list[float]) -> None:
        self.rounds[load, operation, contender] = values

    def median(self, load: str, operation: str, contender: str) -> float | None:
        values = self.rounds.get((load, operation, contender))
        return statistics.median(values) if values else None

    def loads(self) -> list[str]:
        return list(dict.fromkeys(load for load, _, _ in self.rounds))

    def as_json(self, loads: dict[str, Load]) -> dict[str, Any]:
        figures = [
            {"load": load, "operation": operation, "contender": contender, "median": self.median(load, operation, contender),
             "rounds": values, "unit": "bytes" if operation == "bytes" else "ns",
             "of_ours": self.of_ours(load, operation, contender)}
            for (load, operation, contender), values in self.rounds.items()
        ]
        return {
            "contenders": self.versions,
            "skipped": self.skipped,
            "failed": {f"{name} {load}": why for (name, load), why in self.failures.items()},
            "loads": {name: loads[name].words for name in self.loads()},
            "figures": figures,
            "missed": goals_missed(self),
        }

    def reference(self, contender: str) -> str:
        """Ours in the same language. The limit is in C++."""
        return "ours" if contender in ("ours", LIMIT) or "trainwarden" not in self.versions else "trainwarden"

    def of_ours(self, load: str, operation: str, contender: str) -> float | None:
        mine = self.median(load, operation, self.reference(contender))
        theirs = self.median(load, operation, contender)
        return theirs / mine if mine and theirs is not None else None


def amount(value: float, operation: str) -> str:
    """With three digits."""
    if operation == "bytes":
        return f"{value / 1e6:.1f} MB" if value < 1e8 else f"{value / 1e6:.0f} MB"
    for unit, ns in (("s", 1e9), ("ms", 1e6)):
        if value >= ns:
            return f"{value / ns:.3g} {unit}" if value < 1000 * ns else f"{value / ns:.0f} {unit}"
    return f"{value / 1e3:.3g} µs"


def ratio(value: float) -> str:
    return f"{value:.2f}" if value < 10 else f"{value:.0f}"


def cell(results: Results, load: str, operation: str, contender: str) -> str:
    if (contender, load) in results.failures:
        return "failed"
    median = results.median(load, operation, contender)
    if median is None:
        return ""
    share = results.of_ours(load, operation, contender)
    if share is None or contender == results.reference(contender):
        return amount(median, operation)
    return f"{amount(median, operation)} ({ratio(share)}×)"


def rows(results: Results, loads: dict[str, Load]) -> list[tuple[str, list[str], list[list[str]]]]:
    """A table for each load: its words, the head, and a row for each contender."""
    tables = []
    for load in results.loads():
        head = ["", *OPERATIONS.values()]
        body = [
            [version, *(cell(results, load, operation, name) for operation in OPERATIONS)]
            for name, version in results.versions.items()
        ]
        tables.append((f"{load}: {loads[load].words}", head, body))
    return tables


def notes(results: Results) -> list[str]:
    return [
        *(f"Left out: {name}: {why}." for name, why in results.skipped.items()),
        *(f"Failed: {name} at {load}: {why}." for (name, load), why in results.failures.items()),
        *(f"One round only, as it takes very long: {name} at {load}." for name, load in sorted(results.slow)),
        *goals_missed(results),
    ]


def markdown(results: Results, loads: dict[str, Load]) -> str:
    text = []
    for words, head, body in rows(results, loads):
        text += [f"**{words[0].upper()}{words[1:]}**", ""]
        text += ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
        text += ["| " + " | ".join(row) + " |" for row in body] + [""]
    return "\n".join([*text, *(f"- {note}" for note in notes(results))])


def plain_text(results: Results, loads: dict[str, Load]) -> str:
    text = []
    for words, head, body in rows(results, loads):
        widths = [max(len(row[i]) for row in [head, *body]) for i in range(len(head))]
        text.append(words)
        text += ["  ".join(field.ljust(width) for field, width in zip(row, widths)).rstrip() for row in [head, *body]]
        text.append("")
    return "\n".join([*text, *notes(results)])


def goals_missed(results: Results) -> list[str]:
    """Where we are not first, not ten times as fast as smdebug, or write at less than 90 % of write()."""
    missed = []
    for load in results.loads():
        for operation in TIMES:
            for ours in OURS:
                mine = results.median(load, operation, ours)
                if mine is None:
                    continue
                missed += [f"{ours}, {load}, {operation}: {word}" for word in _missed(results, load, operation, ours, mine)]
    return missed


def _missed(results: Results, load: str, operation: str, ours: str, mine: float) -> list[str]:
    words = []
    for name in results.versions:
        theirs = results.median(load, operation, name)
        if theirs is None or name in OURS:
            continue
        if name == LIMIT:
            if operation == "write" and load != "small" and theirs < WRITE_SHARE * mine:
                words.append(f"{theirs / mine:.0%} of the speed of plain write(), of {WRITE_SHARE:.0%}")
        elif theirs < mine:
            words.append(f"{name} takes {theirs / mine:.2f} of our time")
        elif name == "smdebug" and theirs < WORST_OF_SMDEBUG * mine:
            words.append(f"{theirs / mine:.1f} times as fast as smdebug, of {WORST_OF_SMDEBUG:.0f}")
    return words
