#!/usr/bin/env python3
"""How far from the minimum our samplers and Optuna's are after 50, 100 and 200 evaluations, on the same functions.

usage: regret.py SEARCH_TOOL [--quick] [--seeds N] [--evaluations N] [--shift N | --plain] [--functions ...]
                 [--pairs ...] [--json FILE] [--rivals FILE]

Each seed has a function of its own, shifted and rotated by a seed that is drawn when this runs (and printed; --shift
repeats it); ours and Optuna's search it in turns. Printed: medians with quartiles, and the ratio of our median to
Optuna's with the upper end of its 95 % interval by bootstrap over the seeds, which are drawn in pairs. Exits 1 when one
is above --limit. What it needs of Python: requirements.txt beside it.
"""
import argparse
import concurrent.futures
import json
import pathlib
import secrets
import subprocess
import sys
import time
import warnings
from collections.abc import Callable

import numpy as np
import optuna

from curves import quartiles, upper_ratio
from functions import FORMULAS, SearchedFunction

AT = (50, 100, 200)
NOTHING = 1e-12  # added to regrets, so that ratios of them exist
CHECKED_POINTS = 20

# The smallest regret after each evaluation, and the seconds that a suggestion took at the end.
Regrets = tuple[list[float], float]

RIVALS: dict[str, Callable[[int], optuna.samplers.BaseSampler]] = {
    "random": lambda seed: optuna.samplers.RandomSampler(seed=seed),
    "sobol": lambda seed: optuna.samplers.QMCSampler(seed=seed, scramble=True),
    "tpe": lambda seed: optuna.samplers.TPESampler(seed=seed, multivariate=True),
    "cmaes": lambda seed: optuna.samplers.CmaEsSampler(seed=seed),
    "gp": lambda seed: optuna.samplers.GPSampler(seed=seed, deterministic_objective=True),
    "nsga2": lambda seed: optuna.samplers.NSGAIISampler(seed=seed),
}


def check_functions(tool: str, name: str, shift: int) -> None:
    """Ours in C++ and in Python have the same values."""
    function = SearchedFunction(name, shift)
    points = np.random.default_rng(shift).uniform(function.low, function.high, (CHECKED_POINTS, len(function.low)))
    text = "\n".join(" ".join(repr(float(each)) for each in point) for point in points)
    values = [tool, "--values", name, str(shift)]
    output = subprocess.run(values, input=text, capture_output=True, text=True, check=True)
    theirs = np.array([[float(each) for each in line.split()] for line in output.stdout.splitlines()])
    ours = np.array([[function.value(point), function.regret(point)] for point in points])
    if not np.allclose(ours, theirs, rtol=1e-9, atol=1e-9):
        sys.exit(f"{name} with shift {shift} is not the same in C++ and in Python")


def our_regrets(tool: str, sampler: str, name: str, seed: int, shift: int | None, evaluations: int) -> Regrets:
    arguments = [tool, sampler, name, str(seed), str(evaluations)] + ([] if shift is None else [str(shift)])
    output = subprocess.run(arguments, capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in output.splitlines()]
    return [float(row[1]) for row in rows], float(np.median([float(row[2]) for row in rows[-20:]]))


def rival_regrets(sampler: str, name: str, seed: int, shift: int | None, evaluations: int) -> Regrets:
    """The same of Optuna's sampler."""
    quieten_rival(sampler)
    function = SearchedFunction(name, shift)
    study = optuna.create_study(sampler=RIVALS[sampler](seed))
    regrets: list[float] = []
    seconds: list[float] = []
    for _ in range(evaluations):
        start = time.perf_counter()
        trial = study.ask()
        x = [trial.suggest_float(f"x{i}", low, high) for i, (low, high) in enumerate(zip(function.low, function.high))]
        seconds.append(time.perf_counter() - start)
        study.tell(trial, function.value(x))
        regrets.append(min([function.regret(x), *regrets[-1:]]))
    return regrets, float(np.median(seconds[-20:]))


def quieten_rival(sampler: str) -> None:
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warnings.simplefilter("ignore")
    if sampler == "gp":
        import torch
        torch.set_num_threads(1)  # as ours; more make it slower on matrices as small as these


class KeptSearches:
    """Optuna's searches of earlier runs with the same seeds and shifts, in a file, since they take the longest."""

    def __init__(self, path: pathlib.Path | None) -> None:
        self.path = path
        self.searches = json.loads(path.read_text(encoding="utf-8")) if path and path.exists() else {}

    def rival(self, executor: concurrent.futures.Executor, *arguments: str | int | None) -> concurrent.futures.Future:
        kept = self.searches.get(self.key(arguments))
        if kept is None:
            return executor.submit(rival_regrets, *arguments)
        found: concurrent.futures.Future = concurrent.futures.Future()
        found.set_result(kept)
        return found

    def keep(self, search: Regrets, *arguments: str | int | None) -> None:
        if self.path:
            self.searches[self.key(arguments)] = search
            self.path.write_text(json.dumps(self.searches), encoding="utf-8")

    @staticmethod
    def key(arguments: tuple[str | int | None, ...]) -> str:
        return " ".join([optuna.__version__, *map(str, arguments)])


def search_in_turns(options: argparse.Namespace, pair: str, name: str, executor: concurrent.futures.Executor,
                    kept: KeptSearches) -> list[tuple[Regrets, Regrets]]:
    """Ours and Optuna's of each seed."""
    ours_name, _, rival = pair.partition(":")
    rival = rival or ours_name
    begun = []
    for seed in range(options.seeds):
        where = (name, seed, None if options.plain else options.shift + seed, options.evaluations)
        begun.append((executor.submit(our_regrets, options.tool, ours_name, *where),
                      kept.rival(executor, rival, *where), where))
    searches = []
    for ours, theirs, where in begun:
        searches.append((ours.result(), theirs.result()))
        kept.keep(theirs.result(), rival, *where)
    return searches


def compare(options: argparse.Namespace, pair: str, name: str, searches: list[tuple[Regrets, Regrets]]) -> list[dict]:
    """Rows of the table, one for each number of evaluations."""
    rows = []
    for at in evaluations_shown(options):
        ours = np.array([mine[0][at - 1] for mine, _ in searches]) + NOTHING
        theirs = np.array([other[0][at - 1] for _, other in searches]) + NOTHING
        rows.append({"sampler": pair, "function": name, "evaluations": at, "ours": quartiles(ours),
                     "theirs": quartiles(theirs), "ratio": float(np.median(ours) / np.median(theirs)),
                     "upper": upper_ratio(ours, theirs),
                     "ours_ms": 1e3 * float(np.median([mine[1] for mine, _ in searches])),
                     "theirs_ms": 1e3 * float(np.median([other[1] for _, other in searches]))})
    return rows


def evaluations_shown(options: argparse.Namespace) -> list[int]:
    return [at for at in AT if at < options.evaluations] + [options.evaluations]


def print_row(row: dict) -> None:
    print(f"| {row['sampler']} | {row['function']} | {row['evaluations']} | {row['ours']} | {row['theirs']} | "
          f"{row['ratio']:.2f} | {row['upper']:.2f} | {row['ours_ms']:.3f} | {row['theirs_ms']:.1f} |", flush=True)


def parse_search(parser: argparse.ArgumentParser) -> argparse.Namespace:
    """Adds what is said of every comparison of searches on functions, and reads the command line."""
    parser.add_argument("tool", help="the program search_tool of the build")
    parser.add_argument("--quick", action="store_true", help="5 seeds")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--evaluations", type=int, default=AT[-1])
    parser.add_argument("--shift", type=int, help="seed of the shifts and rotations; drawn where it is not given")
    parser.add_argument("--functions", nargs="+", default=list(FORMULAS), choices=list(FORMULAS))
    options = parser.parse_args()
    if options.quick:
        options.seeds = 5
    if options.shift is None:
        options.shift = secrets.randbelow(2**31)
    return options


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plain", action="store_true", help="functions that are neither shifted nor rotated")
    parser.add_argument("--pairs", nargs="+", default=["tpe", "cmaes"],
                        help="samplers, ours:Optuna's where the names differ (gp:tpe)")
    parser.add_argument("--limit", type=float, default=1.25, help="of the ratios' upper ends")
    parser.add_argument("--workers", type=int, default=1, help="searches at once; more than 1 spoils the times")
    parser.add_argument("--json", type=pathlib.Path, help="where the rows are written")
    parser.add_argument("--rivals", type=pathlib.Path,
                        help="where Optuna's searches are kept: one that is there is not run again")
    return parse_search(parser)


def main() -> int:
    options = parse()
    print(f"Optuna {optuna.__version__}, {options.seeds} seeds, " +
          ("plain functions" if options.plain else f"shift {options.shift}"))
    print("| sampler | function | evaluations | ours | Optuna's | ratio | upper 95 % | ours ms | Optuna's ms |")
    print("|---|---|---|---|---|---|---|---|---|")
    rows = []
    kept = KeptSearches(options.rivals)
    with concurrent.futures.ProcessPoolExecutor(options.workers) as executor:
        for name in options.functions:
            check_functions(options.tool, name, options.shift)
            for pair in options.pairs:
                found = compare(options, pair, name, search_in_turns(options, pair, name, executor, kept))
                rows += found
                for row in found:
                    print_row(row)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    above = [row for row in rows if row["upper"] > options.limit]
    for row in above:
        print(f"above {options.limit}: {row['sampler']} on {row['function']} after {row['evaluations']}")
    return 1 if above else 0


if __name__ == "__main__":
    sys.exit(main())
