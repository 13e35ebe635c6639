#!/usr/bin/python3
"""Draws a training that stopped at its target beside the same one that went on: the picture of the guide.

scripts/stop_picture.py --target 9 --cli build/release/bin/trainwarden WITH WITHOUT > docs/images/stop-at-a-target.svg

WITH and WITHOUT are runs of `bert train-spans` from the same seed, the first with --f1_threshold. Above: the loss of each
step, smoothed. Below: the F1 of the sample, the bound on that of all questions, and at the end the F1 of all.
"""

from __future__ import annotations

import argparse
import json
import subprocess
from html import escape

WIDTH, PANEL, LEFT, RIGHT, TOP, GAP = 720, 190, 56, 150, 34, 46
WITHOUT, WITH, BOUND, TARGET = "#9aa3af", "#2f6fd0", "#d08a2f", "#c0392b"
Points = list[tuple[float, float]]


def series(arguments: argparse.Namespace, run: str, tensor: str, *options: str) -> Points:
    """Steps and numbers of a tensor. Ends the program where the run does not have it."""
    command = [arguments.cli, "plot", "--runs", arguments.runs, run, tensor, "--json", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"stop_picture: no {tensor} of run {run}:\n{done.stderr.strip()}")
    drawn = json.loads(done.stdout)["series"]
    return [(point["step"], point["drawn"]) for each in drawn for point in each["points"]]


class Panel:
    """A chart with its own range of numbers, over the same steps as the others."""

    def __init__(self, top: int, last_step: float, low: float, high: float, title: str) -> None:
        self.top, self.last_step, self.low, self.high = top, last_step, low, high
        self.parts = [f'<text x="{LEFT}" y="{top - 10}" class="title">{escape(title)}</text>']
        for i in range(5):
            number = low + (high - low) * i / 4
            y = self.y(number)
            self.parts.append(f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" class="grid"/>'
                              f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{number:.3g}</text>')

    def x(self, step: float) -> float:
        return LEFT + (WIDTH - RIGHT - LEFT) * step / self.last_step

    def y(self, number: float) -> float:
        return self.top + PANEL * (1 - (number - self.low) / (self.high - self.low))

    def line(self, points: Points, colour: str, dashes: str = "none") -> None:
        path = "L".join(f"{self.x(step):.1f} {self.y(number):.1f}" for step, number in points)
        self.parts.append(f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="2" stroke-dasharray="{dashes}"/>')

    def dot(self, point: tuple[float, float], colour: str, label: str) -> None:
        x, y = self.x(point[0]), self.y(point[1])
        self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" fill="{colour}"/>'
                          f'<text x="{x + 8:.1f}" y="{y + 4:.1f}">{escape(label)}</text>')

    def upright(self, step: float, label: str) -> None:
        x = self.x(step)
        self.parts.append(f'<path d="M{x:.1f} {self.top}V{self.top + PANEL}" stroke="{WITH}" stroke-dasharray="2 3"/>'
                          f'<text x="{x + 5:.1f}" y="{self.top + 12}">{escape(label)}</text>')


def legend(rows: list[tuple[str, str]]) -> str:
    drawn = []
    for i, (colour, label) in enumerate(rows):
        y = TOP + 12 + 18 * i
        drawn.append(f'<path d="M{WIDTH - RIGHT + 14} {y - 4}h18" stroke="{colour}" stroke-width="3"/>'
                     f'<text x="{WIDTH - RIGHT + 38}" y="{y}">{escape(label)}</text>')
    return "".join(drawn)


def picture(arguments: argparse.Namespace) -> str:
    losses = {run: series(arguments, run, "SpanLoss_output_0", "--smooth", "0.9")
              for run in (arguments.with_stop, arguments.without)}
    stopped, last = losses[arguments.with_stop][-1], losses[arguments.without][-1]
    numbers = [number for each in losses.values() for _, number in each]
    above = Panel(TOP, last[0], min(numbers), max(numbers), "loss, smoothed")
    above.line(losses[arguments.without], WITHOUT)
    above.line(losses[arguments.with_stop], WITH)
    above.upright(stopped[0], f"stopped after step {stopped[0]:.0f}")

    looks = {(run, name): series(arguments, run, name) for run in losses for name in ("f1", "f1_of_all")}
    bound = series(arguments, arguments.with_stop, "f1_not_below")
    top = 1.1 * max(number for each in looks.values() for _, number in each)
    below = Panel(TOP + PANEL + GAP, last[0], 0, max(top, 1.1 * arguments.target), "F1 of questions not trained on, in percent")
    below.line([(0, arguments.target), (last[0], arguments.target)], TARGET, "5 4")
    below.line(looks[arguments.without, "f1"], WITHOUT)
    below.line(looks[arguments.with_stop, "f1"], WITH)
    below.line(bound, BOUND)
    for run, colour in ((arguments.with_stop, WITH), (arguments.without, WITHOUT)):
        of_all = looks[run, "f1_of_all"][-1]
        below.dot(of_all, colour, f"all: {of_all[1]:.1f}")
    height = TOP + 2 * PANEL + GAP + 34
    rows = [(WITHOUT, "without a stop"), (WITH, "with the stop"), (BOUND, "bound"), (TARGET, "target")]
    style = "text{font:12px sans-serif;fill:#4a5260}.title{font-weight:bold}.grid{stroke:#8884;stroke-width:1}"
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">'
            f"<title>A training that stopped at its target, and the same without the stop</title><style>{style}</style>"
            f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>' + "".join(above.parts + below.parts) + legend(rows)
            + f'<text x="{LEFT}" y="{height - 8}">step 0</text>'
            f'<text x="{WIDTH - RIGHT}" y="{height - 8}" text-anchor="end">step {last[0]:.0f}</text></svg>')


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cli", default="trainwarden")
    parser.add_argument("--runs", default="runs")
    parser.add_argument("--target", type=float, required=True, help="F1 in percent")
    parser.add_argument("with_stop", metavar="WITH")
    parser.add_argument("without", metavar="WITHOUT")
    print(picture(parser.parse_args()))


if __name__ == "__main__":
    main()
