#!/usr/bin/env python3
"""Is the automatic choice of a sampler near the best one that one could have named?

usage: choice.py SEARCH_TOOL [--quick] [--seeds N] [--evaluations N] [--shift N] [--samplers ...] [--functions ...]

The functions are those of regret.py, each shifted and rotated anew for each seed. Printed: our samplers' median
regrets, and the ratio of auto's to the smallest with the upper end of its 95 % interval (by bootstrap over the seeds,
the smallest chosen anew each time: one that is best by chance is a strict yardstick). Exits 1 when a ratio is above
--limit.
"""
import argparse
import concurrent.futures
import sys

import numpy as np

from curves import RESAMPLES
from regret import NOTHING, evaluations_shown, our_regrets, parse_search

SAMPLERS = ("random", "sobol", "tpe", "cmaes", "gp")


def regrets_of(options: argparse.Namespace, name: str,
               executor: concurrent.futures.Executor) -> dict[str, np.ndarray]:
    """By sampler: a row for each seed, the smallest regret after each evaluation."""
    begun = {sampler: [executor.submit(our_regrets, options.tool, sampler, name, seed, options.shift + seed,
                                       options.evaluations) for seed in range(options.seeds)]
             for sampler in [*options.samplers, "auto"]}
    return {sampler: np.array([search.result()[0] for search in some]) + NOTHING for sampler, some in begun.items()}


def ratio_to_best(regrets: dict[str, np.ndarray], rows: np.ndarray, at: int) -> float:
    medians = {sampler: float(np.median(some[rows, at - 1])) for sampler, some in regrets.items()}
    auto = medians.pop("auto")
    return auto / min(medians.values())


def print_row(regrets: dict[str, np.ndarray], name: str, at: int) -> float:
    seeds = len(regrets["auto"])
    picks = np.random.default_rng(1).integers(0, seeds, (RESAMPLES, seeds))
    ratio = ratio_to_best(regrets, np.arange(seeds), at)
    upper = float(np.quantile([ratio_to_best(regrets, rows, at) for rows in picks], 0.975))
    medians = " | ".join(f"{np.median(some[:, at - 1]):.3g}" for some in regrets.values())
    print(f"| {name} | {at} | {medians} | {ratio:.2f} | {upper:.2f} |", flush=True)
    return ratio


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samplers", nargs="+", default=list(SAMPLERS), choices=SAMPLERS)
    parser.add_argument("--limit", type=float, default=1.5)
    parser.add_argument("--workers", type=int, default=1)
    return parse_search(parser)


def main() -> int:
    options = parse()
    print(f"{options.seeds} seeds, shift {options.shift}")
    names = [*options.samplers, "auto", "auto / best", "upper 95 %"]
    print("| function | evaluations | " + " | ".join(names) + " |\n|" + "---|" * (len(names) + 2))
    ratios = []
    with concurrent.futures.ThreadPoolExecutor(options.workers) as executor:
        for name in options.functions:
            regrets = regrets_of(options, name, executor)
            ratios += [print_row(regrets, name, at) for at in evaluations_shown(options)]
    return 1 if max(ratios) > options.limit else 0


if __name__ == "__main__":
    sys.exit(main())
