#!/usr/bin/env python3
"""What ending trials by verdicts saves: 60 small trainings, 30 % of them ruined, in four studies of `trainwarden tune`.

usage: verdicts.py TRAINWARDEN [--quick] [--count N] [--seed N] [--python PYTHON] [--keep FOLDER] [--json]

Nothing ends early, ASHA, verdicts, both; all try the same settings in the same order (ruined_training.py). Printed: the
training steps of all trials, and those up to the trial that reached the best loss of the first study, or one within a
hundredth of it; then which ruined trainings verdicts ended, and which of the others, which is a defect. PYTHON has
PyTorch and the package trainwarden. Of the images: Debian's dataset-fashion-mnist, or --data.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
from collections import Counter
from typing import Any

from ruined_training import configurations

ARMS = {"nothing": ("none", False), "asha": ("asha", False), "verdicts": ("none", True), "both": ("asha", True)}
NEAR = 0.01  # of the best loss
JOB = """program = [{python}, {training}]
[hyperparameters]
count = {count}
seed = {seed}
data = {data}
[[metric]]
name = "validation_loss"
regex = 'epoch (?<step>\\d+) validation_loss (\\S+)'
"""
STUDY = """job = "job.toml"
sampler = "grid"
pruner = "{pruner}"
end_by_verdict = {verdicts}
[parameters]
configuration = {{min = 0, max = {last}}}
[metrics]
validation_loss = {{goal = "minimize"}}
[budget]
trials = {count}
"""


def write_study(options: argparse.Namespace, arm: str, folder: pathlib.Path) -> None:
    pruner, verdicts = ARMS[arm]
    folder.mkdir(parents=True)
    training = pathlib.Path(__file__).with_name("ruined_training.py").resolve()
    (folder / "job.toml").write_text(JOB.format(
        python=json.dumps(options.python), training=json.dumps(str(training)), count=options.count, seed=options.seed,
        data=json.dumps(str(options.data))), encoding="utf-8")
    (folder / f"{arm}.toml").write_text(STUDY.format(
        pruner=pruner, verdicts=str(verdicts).lower(), last=options.count - 1, count=options.count), encoding="utf-8")


def run_study(options: argparse.Namespace, arm: str, folder: pathlib.Path) -> list[dict[str, Any]]:
    """Its trials, each with its steps. One that is there goes on."""
    places = ["--studies", "studies"]
    words = [options.program, "study", "resume", arm, *places]
    if not folder.exists():
        write_study(options, arm, folder)
        words = [options.program, "tune", f"{arm}.toml", *places]
    subprocess.run([*words, "--jobs", "jobs", "--runs", "runs"], cwd=folder, check=True, stdout=subprocess.DEVNULL,
                   stderr=None if options.verbose else subprocess.DEVNULL)
    shown = subprocess.run([options.program, "study", "show", arm, *places, "--json"], cwd=folder, check=True,
                           capture_output=True, text=True)
    trials = json.loads(shown.stdout)["trials"]
    for trial in trials:
        counted = folder / f"steps-{trial['job']}"
        trial["steps"] = counted.stat().st_size if counted.exists() else 0
        trial["fault"] = configurations(options.count, options.seed)[trial["values"]["configuration"]]["fault"]
    return trials


def steps_until(trials: list[dict[str, Any]], loss: float) -> int | None:
    """Of all trials up to the one that reached this loss; None: none did."""
    total = 0
    for trial in trials:
        total += trial["steps"]
        if trial["state"] == "complete" and trial["metrics"]["validation_loss"] <= loss:
            return total
    return None


def best_loss(trials: list[dict[str, Any]]) -> float:
    return min(trial["metrics"]["validation_loss"] for trial in trials if trial["state"] == "complete")


def figures_of(arms: dict[str, list[dict[str, Any]]]) -> list[dict[str, Any]]:
    first = arms[next(iter(ARMS))]
    loss = best_loss(first)
    rows = []
    for arm, trials in arms.items():
        rows.append({
            "arm": arm, "steps": sum(trial["steps"] for trial in trials),
            "to_best": steps_until(trials, loss), "to_near": steps_until(trials, loss * (1 + NEAR)),
            "best": best_loss(trials), "states": dict(Counter(trial["state"] for trial in trials))})
    return rows


def print_rows(rows: list[dict[str, Any]]) -> None:
    print("| ended early by | steps in all | to the best loss | to within 1 % | best loss | complete, pruned, failed |")
    print("|---|---|---|---|---|---|")
    for row in rows:
        states = ", ".join(str(row["states"].get(each, 0)) for each in ("complete", "pruned", "failed"))
        print(f"| {row['arm']} | {row['steps']} | {row['to_best'] or 'never'} | {row['to_near'] or 'never'} | "
              f"{row['best']:.4f} | {states} |")


def ended_by_verdict(trials: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """In a study without a pruner."""
    return [trial for trial in trials if trial["state"] == "pruned"]


def print_verdicts(trials: list[dict[str, Any]], unended: list[dict[str, Any]]) -> int:
    """How many healthy ones were ended."""
    ended = ended_by_verdict(trials)
    print("\n| ruined by | trainings | ended by a verdict | after steps | what it said first |\n|---|---|---|---|---|")
    for fault in sorted({trial["fault"] for trial in trials} - {""}):
        some = [trial for trial in ended if trial["fault"] == fault]
        count = sum(trial["fault"] == fault for trial in trials)
        after = ", ".join(str(trial["steps"]) for trial in some)
        print(f"| {fault} | {count} | {len(some)} | {after} | {some[0]['why'] if some else ''} |")
    wrong = [trial for trial in ended if not trial["fault"]]
    print(f"\n{len(wrong)} of {sum(not trial['fault'] for trial in trials)} others were ended by a verdict")
    for trial in wrong:
        print(f"  configuration {trial['values']['configuration']}: {trial['why']}; left alone it reached "
              f"{unended[trial['number']]['metrics'].get('validation_loss')}")
    return len(wrong)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="the program trainwarden")
    parser.add_argument("--quick", action="store_true", help="20 trainings")
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--data", type=pathlib.Path, default=pathlib.Path("/usr/share/datasets/fashion-mnist"))
    parser.add_argument("--keep", type=pathlib.Path, help="the folder of the studies; those that are there go on")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--verbose", action="store_true", help="what the studies say")
    options = parser.parse_args()
    if options.quick:
        options.count = 20
    options.program = str(pathlib.Path(options.program).resolve())
    options.data = options.data.resolve()
    return options


def main() -> int:
    options = parse()
    if not options.data.is_dir():
        print(f"there is no folder {options.data}: install dataset-fashion-mnist, or name another (--data)",
              file=sys.stderr)
        return 77
    with tempfile.TemporaryDirectory() as folder:
        kept = (options.keep or pathlib.Path(folder)).resolve()
        arms = {arm: run_study(options, arm, kept / arm) for arm in ARMS}
    rows = figures_of(arms)
    if options.json:
        print(json.dumps({"figures": rows, "trials": arms}))
        return 0
    print_rows(rows)
    return 1 if print_verdicts(arms["verdicts"], arms["nothing"]) else 0


if __name__ == "__main__":
    sys.exit(main())
