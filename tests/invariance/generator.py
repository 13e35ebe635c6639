#!/usr/bin/env python3
"""Random programs, put together from the parts of grammar.py and observers.py: is each the same alone and watched?

usage: generator.py --cli PROGRAM --python PYTHON [--seed N] [--count M] [--rules RULES] [--found FOLDER] [--shrink K]
                    [--without PART]... [--jobs N] [--json]
       generator.py --print NUMBER [--seed N]

A program is known by the seed and its number. Many run in forks of one process (batch.py). Of programs that differ, K are
shrunk: parts are replaced by simpler ones, and observers left out, as long as the program still differs in the same way.
What remains is written to FOLDER, a file each that runs by itself, with the difference in its first line. Exits 1 when any
program differs.
"""

from __future__ import annotations

import concurrent.futures
import dataclasses
import functools
import json
import random
import shutil
import sys
import tempfile
import textwrap
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import compare
from grammar import BODIES, CALLS, CONTAINERS, ENDS, LOSSES, OPTIMIZERS, PLACES, SOURCES
from observers import OBSERVERS
from running import Runner

_BATCH = 50
_MOST_OBSERVERS = 4
_STEPS = (8, 15, 30, 60)
_LISTS = {
    "given": [each.name for each in CONTAINERS],
    "output": [each.name for each in CONTAINERS],
    "body": [each.name for each in BODIES],
    "call": list(CALLS),
    "loss": list(LOSSES),
    "optimizer": [each.name for each in OPTIMIZERS],
    "place": list(PLACES),
    "source": list(SOURCES),
    "end": list(ENDS),
}
_BY_NAME = {each.name: each for each in OBSERVERS}

_IMPORTS = (
    "import asyncio, atexit, collections, contextlib, copy, dataclasses, gc, hashlib, inspect, io, os, pickle, random\n"
    "import signal, sys, threading, warnings, weakref\n"
    "import torch, torch.utils.checkpoint, torch.utils.data, torch.overrides, torch.utils._python_dispatch\n"
    "import seen\n"
)
_HEAD = """
notes = {{}}
state = {{}}
{definitions}

def put(t):
    return {put}


def take(c):
    return {take}


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        {init}

    def forward(self, given):
{looks}
        c = given
        x = {taken}
        t = {compute}
        return {given_back}


def loss_of(x, y, net, number):
    return {loss}

"""
_TRAINING = """
torch.manual_seed({seed})
net = Net()
optimizer = {make}
{loop}
    {first}
    def closure():
        if number % {rhythm} == 0:
            optimizer.zero_grad()
        given = put(x)
        output = {call}
        y = take(output)
        loss = loss_of(x, y, net, number)
        loss.backward()
        state["last"] = x, y, loss, output
        return loss

    {around}
        {step}
        x, y, loss, output = state.pop("last")
{each}
    del x, y, loss, output
    {yields}
"""
_TAIL = """
{after}
print(sorted((name, sorted(map(str, value)) if isinstance(value, set) else value) for name, value in notes.items()))
print(seen.digest(net), flush=True)
{end}
"""


@dataclass(frozen=True)
class Shape:
    """Which parts a program has."""

    parts: tuple[tuple[str, str], ...]  # list, name in it
    observers: tuple[str, ...]
    steps: int

    def part(self, of: str) -> str:
        return dict(self.parts)[of]

    def names(self) -> list[str]:
        """Of all that is not the simplest."""
        return [f"{of}={name}" for of, name in self.parts if name != _LISTS[of][0]] + list(self.observers)

    def simpler(self) -> Iterator["Shape"]:
        """Every shape that is one step simpler."""
        for observer in self.observers:
            yield dataclasses.replace(self, observers=tuple(each for each in self.observers if each != observer))
        for of, name in self.parts:
            if name != _LISTS[of][0]:
                parts = tuple((each, _LISTS[of][0] if each == of else value) for each, value in self.parts)
                yield dataclasses.replace(self, parts=parts)
        if self.steps > 1:
            yield dataclasses.replace(self, steps=max(1, self.steps // 2))


def draw(seed: int, number: int, without: frozenset[str]) -> Shape:
    """The shape of this number. Three of ten lists have their simplest part."""
    chance = random.Random(f"{seed}-{number}")
    parts = []
    for of, names in _LISTS.items():
        allowed = [name for name in names if name not in without]
        parts.append((of, allowed[0] if chance.random() < 0.3 else chance.choice(allowed)))
    observers = [each.name for each in OBSERVERS if each.name not in without]
    chosen = chance.sample(observers, chance.randint(0, _MOST_OBSERVERS))
    return Shape(tuple(parts), tuple(chosen), chance.choice(_STEPS))


def render(shape: Shape, title: str = "Generated.") -> str:
    """The program."""
    given, output = (_of(CONTAINERS, shape.part(of)) for of in ("given", "output"))
    body, optimizer = _of(BODIES, shape.part("body")), _of(OPTIMIZERS, shape.part("optimizer"))
    observers = [_BY_NAME[name] for name in shape.observers]
    definitions = dict.fromkeys(each.define for each in (given, output, body, optimizer))
    head = _HEAD.format(
        definitions="\n".join(definitions), put=given.put, take=output.take, init=body.init, taken=given.take,
        compute=body.compute, given_back=output.put, loss=LOSSES[shape.part("loss")],
        looks=_indented("\n".join(each.forward for each in observers) or "pass", 8),
    )  # fmt: skip
    before = "\n".join(each.before for each in observers)
    after = "\n".join(each.after for each in observers)
    tail = _TAIL.format(after=after, end=ENDS[shape.part("end")])
    place = PLACES[shape.part("place")].strip("\n").split("{body}")
    text = _training(shape, body_indent=4 * (shape.part("place") not in ("module",)) * (1 + (shape.part("place") == "method")))
    lines = f'"""{title}"""\n{_IMPORTS}{head}\n{before}\n{text.join(place)}\n{tail}'.splitlines()
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _training(shape: Shape, body_indent: int) -> str:
    optimizer = _of(OPTIMIZERS, shape.part("optimizer"))
    observers = [_BY_NAME[name] for name in shape.observers]
    contexts = [each.around for each in observers if each.around]
    loop, first = SOURCES[shape.part("source")]
    yields = {"generator": "yield number", "coroutine": "await asyncio.sleep(0)"}.get(shape.part("place"), "")
    text = _TRAINING.format(
        seed=len(shape.names()), make=optimizer.make, loop=loop.format(steps=shape.steps), first=first,
        rhythm=optimizer.rhythm, call=CALLS[shape.part("call")], step=optimizer.step, yields=yields,
        around=f"with {', '.join(contexts)}:" if contexts else "if True:",
        each=_indented("\n".join(each.each for each in observers), 8),
    )  # fmt: skip
    return _indented(text.strip("\n"), body_indent)


def _indented(text: str, by: int) -> str:
    return textwrap.indent(textwrap.dedent(text).strip("\n"), " " * by)


def _of(parts: list, name: str):  # type: ignore[no-untyped-def, type-arg]
    return next(each for each in parts if each.name == name)


class Trials:
    """Runs shapes, in batches."""

    def __init__(self, runner: Runner, rules: str) -> None:
        self._runner, self._rules = runner, rules

    def differences(self, shapes: list[Shape]) -> list[compare.Verdict]:
        """Of each shape, in their order."""
        folder = self._runner.scratch / "generated" / "programs"
        shutil.rmtree(folder.parent, ignore_errors=True)
        folder.mkdir(parents=True)
        files = [folder / f"{number:04}.py" for number in range(len(shapes))]
        for file, shape in zip(files, shapes):
            file.write_text(render(shape), encoding="utf-8")
        return compare.judge(functools.partial(self._runner.batch, "batch"), files, self._rules, may_fail=True)

    def shrink(self, shape: Shape, reasons: list[str]) -> tuple[Shape, list[str]]:
        """The smallest shape that still differs in this way, as far as single steps lead."""
        kind = _kind(reasons)
        while True:
            simpler = list(shape.simpler())
            for smaller, verdict in zip(simpler, self.differences(simpler) if simpler else []):
                if verdict.differs and _kind(verdict.reasons) == kind:
                    shape, reasons = smaller, verdict.reasons
                    break
            else:
                return shape, reasons


def _kind(reasons: list[str]) -> str:
    return reasons[0].split(":")[0].split(" ")[0]


def try_all(trials: list[Trials], shapes: list[Shape]) -> list[tuple[Shape, list[str]]]:
    """Those that differ, with how they do. Each of `trials` works on batches of its own."""
    groups = [shapes[begin : begin + _BATCH] for begin in range(0, len(shapes), _BATCH)]

    def work(index: int) -> list[tuple[Shape, list[str]]]:
        found = []
        for group in groups[index :: len(trials)]:
            for shape, verdict in zip(group, trials[index].differences(group)):
                if verdict.differs:
                    found.append((shape, verdict.reasons))
                    print(f"{' '.join(shape.names())}: {verdict.reasons[0]}", file=sys.stderr, flush=True)
        return found

    with concurrent.futures.ThreadPoolExecutor(len(trials)) as pool:
        return [each for found in pool.map(work, range(len(trials))) for each in found]


def shrink_some(trials: Trials, found: list[tuple[Shape, list[str]]], count: int, folder: Path) -> list[str]:
    """Shrinks the smallest ones and writes what remains, each once."""
    written: dict[str, Path] = {}
    for shape, reasons in sorted(found, key=lambda each: len(each[0].names()))[:count]:
        shape, reasons = trials.shrink(shape, reasons)
        name = "-".join(each.replace("=", "_") for each in shape.names()) or "plain"
        if name not in written:
            folder.mkdir(parents=True, exist_ok=True)
            written[name] = folder / f"{name}.py"
            reason = reasons[0].replace("\\", "").replace('"', "'")
            written[name].write_text(render(shape, f"{' '.join(shape.names())}: {reason}"), encoding="utf-8")
    return [str(path) for path in written.values()]


def print_table(count: int, found: list[tuple[Shape, list[str]]], written: list[str]) -> None:
    """How many differ, with which parts, and where the smallest are."""
    print(f"| generated programs | same | differ |\n|---|---|---|\n| {count} | {count - len(found)} | {len(found)} |")
    parts = Counter(part for shape, _ in found for part in shape.names())
    for part, times in parts.most_common(15) if found else ():
        print(f"{part}: in {times} of those that differ")
    for path in written:
        print(path)


def main() -> int:
    parser = compare.option_parser(__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100, metavar="M", help="so many programs")
    parser.add_argument("--first", type=int, default=0, metavar="NUMBER", help="the number of the first one")
    parser.add_argument("--found", type=Path, default=Path("found"), metavar="FOLDER", help="where the smallest go")
    parser.add_argument("--shrink", type=int, default=5, metavar="K", help="shrink so many of those that differ")
    parser.add_argument("--without", action="append", default=[], metavar="PART", help="a part that none may have")
    parser.add_argument("--print", type=int, metavar="NUMBER", help="print this program, and run nothing")
    options = parser.parse_args()
    without = frozenset(options.without)
    if options.print is not None:
        print(render(draw(options.seed, options.print, without)))
        return 0
    compare.heed_signals()
    shapes = [draw(options.seed, options.first + number, without) for number in range(options.count)]
    scratch = Path(tempfile.mkdtemp(prefix="invariance-"))
    try:
        runner = compare.runner_of(options, scratch)
        apart = [dataclasses.replace(runner, scratch=scratch / str(number)) for number in range(options.jobs)]
        trials = [Trials(each, compare.ways_of(options)[-1]) for each in apart]
        found = try_all(trials, shapes)
        written = shrink_some(trials[0], found, options.shrink, options.found)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    if options.json:
        print(json.dumps({"programs": len(shapes), "differ": len(found), "written": written}))
    else:
        print_table(len(shapes), found, written)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
