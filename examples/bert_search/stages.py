#!/usr/bin/python3
"""Trains the same model four times, each with one thing more, and draws what each brings.

    examples/bert_search/stages.py --study studies/bert-search > stages.svg

One process with the first values of study.toml; two processes (ranks); these with a stop at the target; and that with the
best values of the study, which were found with less data. Each is timed by itself, one after the other: leave the machine
alone meanwhile.
Drawn apart, since a bar of one says nothing of the others: the seconds to the end of the training, how many windows it
trained on in a second, and the F1 of the trained model on all questions of the dev set.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import subprocess
import sys
import tempfile
import tomllib
from html import escape
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
THRESHOLD = "f1_threshold"
Options = dict[str, Any]


def free_port() -> int:
    with socket.socket() as place:
        place.bind(("127.0.0.1", 0))
        return int(place.getsockname()[1])


def ranks_of(count: int) -> list[dict[str, str]]:
    """What the environment of each rank says; of a single process nothing."""
    if count == 1:
        return [{}]
    port = str(free_port())
    return [{"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(count), "LOCAL_WORLD_SIZE": str(count),
             "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port} for rank in range(count)]  # fmt: skip


def train(program: list[str], options: Options, ranks: int) -> dict[str, Any]:
    """Trains, and returns what `result.json` says with the seconds that it took. A batch is that of all ranks."""
    with tempfile.TemporaryDirectory() as folder:
        given = {**options, "batch_size": max(int(options["batch_size"]) // ranks, 1), "threads": 1, "out": folder}
        words = [*program, "--no-hook"]
        for name, value in given.items():
            words += [f"--{name}", str(value)]
        started = [subprocess.Popen(words, cwd=HERE, env={**os.environ, **rank}, stdout=subprocess.DEVNULL)
                   for rank in ranks_of(ranks)]
        if any([process.wait() for process in started]):
            raise SystemExit(f"stages: a training failed: {' '.join(words)}")
        return dict(json.loads(Path(folder, "result.json").read_text(encoding="utf-8")))


def measured(arguments: argparse.Namespace) -> list[dict[str, Any]]:
    job = tomllib.loads((HERE / "job.toml").read_text(encoding="utf-8"))
    study = tomllib.loads((HERE / "study.toml").read_text(encoding="utf-8"))
    options: Options = {**job["hyperparameters"], **{n: p["first"] for n, p in study["parameters"].items()}}
    options |= {"train-size": arguments.train_size, "dev-size": arguments.dev_size, THRESHOLD: arguments.target,
                "sample-size": arguments.sample_size, "num_to_evaluate": arguments.look_every}  # fmt: skip
    without_stop = {name: value for name, value in options.items()
                    if name not in (THRESHOLD, "num_to_evaluate", "sample-size")}
    found = subprocess.run([arguments.cli, "study", "best", arguments.study.name, "--json", "--studies",
                            str(arguments.study.parent)], capture_output=True, text=True, check=False)
    if found.returncode not in (0, 5):
        raise SystemExit(f"stages: {found.stderr.strip()}")
    best = json.loads(found.stdout)["best"][0]["values"]
    plan = [("one process", without_stop, 1), ("two processes", without_stop, 2),
            ("and a stop at the target", options, 2), ("and the values found", {**options, **best}, 2)]
    stages = []
    for title, given, ranks in plan:
        print(f"stages: {title}", file=sys.stderr)
        result = train(job["program"], given, ranks)
        stages.append({"title": title, "seconds": result["train_seconds"], "steps": result["steps"],
                       "windows_per_second": result["train_windows_per_second"], "f1": result["after"]["f1"]})
    return stages


def panel(stages: list[dict[str, Any]], key: str, title: str, left: int, width: int) -> str:
    highest = max(stage[key] for stage in stages)
    drawn = [f'<text x="{left}" y="22" class="title">{escape(title)}</text>']
    for i, stage in enumerate(stages):
        y, long = 36 + 34 * i, (width - 60) * stage[key] / highest
        drawn.append(f'<rect x="{left}" y="{y}" width="{long:.1f}" height="22" class="bar{i}"/>'
                     f'<text x="{left + long + 6:.1f}" y="{y + 15}">{stage[key]:.3g}</text>')
    return "".join(drawn)


def picture(stages: list[dict[str, Any]]) -> str:
    titles = "".join(f'<text x="170" y="{51 + 34 * i}" text-anchor="end">{escape(stage["title"])}</text>'
                     for i, stage in enumerate(stages))
    panels = (panel(stages, "seconds", "seconds of training", 182, 210)
              + panel(stages, "windows_per_second", "windows trained on in a second", 402, 210)
              + panel(stages, "f1", "F1, all of the dev set", 622, 170))
    style = ("text{font:12px sans-serif;fill:#333}.title{font-weight:bold}.bar0{fill:#9aa3af}.bar1{fill:#6f9ad0}"
             ".bar2{fill:#2f6fd0}.bar3{fill:#1b3f7a}"
             "@media(prefers-color-scheme:dark){text{fill:#ddd}.bar3{fill:#b4cdf2}}")
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 800 178" role="img"><style>{style}</style>'
            f"{titles}{panels}</svg>")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--study", type=Path, required=True, help="the folder of the study")
    parser.add_argument("--train-size", type=int, default=1800, help="questions that are trained on")
    parser.add_argument("--dev-size", type=int, default=800, help="questions that are judged")
    parser.add_argument("--sample-size", type=int, default=200, help="of those, how many each look takes")
    parser.add_argument("--look-every", type=int, default=15, help="steps between two looks")
    parser.add_argument("--target", type=float, default=10, help="F1 at which a training stops")
    parser.add_argument("--cli", default=str(HERE / "../../build/release/bin/trainwarden"))
    parser.add_argument("--json", type=Path, help="write the figures there, too")
    parser.add_argument("--from", dest="figures", type=Path, help="draw the figures of this file; nothing is trained")
    arguments = parser.parse_args()
    stages = json.loads(arguments.figures.read_text(encoding="utf-8")) if arguments.figures else measured(arguments)
    if arguments.json:
        arguments.json.write_text(json.dumps(stages, indent=1) + "\n", encoding="utf-8")
    print(picture(stages))


if __name__ == "__main__":
    main()
