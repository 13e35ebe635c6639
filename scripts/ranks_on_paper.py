#!/usr/bin/env python3
"""How many ranks of `bert` would do on links that are not here: a model on paper, of what was measured on one rank.

    ranks_on_paper.py --rate 3.4 --batch 8 --gradients 1340 --link 10 --ranks 4,64

A step computes for batch / rate seconds, two thirds of them backward. A ring sends each gradient 2 (n - 1) / n times, of
the link what --carries says, and each bucket waits 2 (n - 1) times for the link's latency. Buckets travel while the
backward pass goes on: what is left when it ends is waited for, and always the last bucket, which fills at its end. Ranks
are equally quick, and nothing else uses the link.
"""
import argparse
from dataclasses import dataclass

BACKWARD = 2 / 3
BUCKET_MB = 25 * 1.048576


@dataclass
class Machine:
    """One rank, and the link to its neighbour."""

    rate: float  # sequences a second
    batch: float  # sequences in a step
    gradients_mb: float
    link_gbit: float
    carries: float  # of the link
    latency: float  # seconds


def travel_seconds(machine, ranks, megabytes):
    """Of one bucket, or of several as one."""
    per_second = machine.link_gbit * 1e3 / 8 * machine.carries  # MB
    return 2 * (ranks - 1) / ranks * megabytes / per_second


def efficiency(machine, ranks):
    """What a rank of many makes of what it makes alone: between 0 and 1."""
    compute = machine.batch / machine.rate
    buckets = max(1.0, machine.gradients_mb / BUCKET_MB)
    waits = 2 * (ranks - 1) * machine.latency
    all_buckets = travel_seconds(machine, ranks, machine.gradients_mb) + buckets * waits
    last = travel_seconds(machine, ranks, machine.gradients_mb / buckets) + waits
    exposed = max(last, all_buckets - BACKWARD * compute * (1 - 1 / buckets))
    return compute / (compute + (exposed if ranks > 1 else 0))


def main():
    """Prints a row for each number of ranks."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rate", type=float, required=True, help="sequences a second of one rank alone")
    parser.add_argument("--batch", type=float, required=True, help="sequences of one rank in a step")
    parser.add_argument("--gradients", type=float, required=True, help="MB that travel: 4 bytes a parameter, or 2")
    parser.add_argument("--link", type=float, required=True, help="Gbit/s")
    parser.add_argument("--carries", type=float, default=0.68, help="part of the link that is reached (0.68 was measured)")
    parser.add_argument("--latency", type=float, default=50e-6, help="seconds")
    parser.add_argument("--ranks", default="4,64")
    options = parser.parse_args()
    machine = Machine(options.rate, options.batch, options.gradients, options.link, options.carries, options.latency)
    for ranks in (int(count) for count in options.ranks.split(",")):
        share = efficiency(machine, ranks)
        print(f"{ranks:4} ranks: {ranks * share:6.2f} x one, {100 * share:5.1f} %, {ranks * share * options.rate:8.1f} sequences/s")


if __name__ == "__main__":
    main()
