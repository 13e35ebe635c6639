"""What a diagnosis costs the programs of the study: wall and processor time alone and under `trainwarden run --rules default`.

    python3 tests/diagnosis/overhead_of_programs.py --cli build/release/bin/trainwarden --python build/venv/bin/python3 \
        --every 10 reporting

Each chosen healthy program is run alone, watched, watched and alone again, so that a machine that becomes slower favours
neither. The program says itself how long it took, from its first line to its end. Prints medians over the programs; the
share that an examination may cost is a quarter of a second and 0.3 % after that, so short programs say how large the first part is.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Optional

from study import HERE, LIMIT_SECONDS, REPORTED_ONLY, check_unchanged, shuffled

CLOCK = """
import atexit as _atexit, time as _time
_atexit.register(lambda begin=_time.perf_counter(): print("CLOCK", _time.perf_counter() - begin, _time.process_time()))
"""


def times(command: list[str], folder: Path, case: int) -> Optional[tuple[float, float]]:
    """Seconds by the clock and of the processor; None where the program fails."""
    environment = {**os.environ, "CASE": str(case), "SEED": "0", "OMP_NUM_THREADS": "1"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # or each run would compile the package anew, as no user's does
    try:
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=LIMIT_SECONDS)
    except subprocess.TimeoutExpired:
        return None
    lines = [line.split() for line in done.stdout.splitlines() if line.startswith("CLOCK ")]
    return (float(lines[-1][1]), float(lines[-1][2])) if lines else None


def cost(options: argparse.Namespace, half: str, case: dict[str, Any], folder: Path) -> Optional[dict[str, float]]:
    source = (HERE / half / "families" / f"{case['family']}.py").read_text()
    (folder / "train.py").write_text(after_docstring(shuffled(source, case["case"])))
    alone = [options.python, "train.py"]
    taken = []
    for number, is_watched in enumerate((False, True, True, False)):
        name = f"{case['family']}-{case['case']}-{number}"
        run = [options.cli, "run", "--runs", str(folder / "runs"), "--name", name, "--rules", "default", "--"]
        taken.append(times([*run, *alone] if is_watched else alone, folder, case["case"]))
    if None in taken:
        return None
    (first, first_cpu), (second, second_cpu), (third, third_cpu), (last, last_cpu) = taken  # type: ignore[misc]
    wall, cpu = (first + last) / 2, (first_cpu + last_cpu) / 2
    return {"seconds": wall, "more_seconds": (second + third) / 2 - wall, "more_cpu_seconds": (second_cpu + third_cpu) / 2 - cpu}


def after_docstring(source: str) -> str:
    """The clock begins where the program does; imports from __future__ must stay first."""
    lines = source.splitlines()
    last = max((at for at, line in enumerate(lines) if line.startswith("from __future__")), default=-1)
    return "\n".join([*lines[: last + 1], CLOCK, *lines[last + 1 :]])


def figures(costs: list[dict[str, float]]) -> dict[str, Any]:
    shares = sorted(100 * each["more_seconds"] / each["seconds"] for each in costs)
    return {
        "programs": len(costs),
        "seconds": round(statistics.median(each["seconds"] for each in costs), 2),
        "more_seconds": round(statistics.median(each["more_seconds"] for each in costs), 3),
        "more_cpu_seconds": round(statistics.median(each["more_cpu_seconds"] for each in costs), 3),
        "overhead_pct": round(statistics.median(shares), 1),
        "overhead_pct_quartiles": [round(shares[len(shares) // 4], 1), round(shares[3 * len(shares) // 4], 1)],
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("halves", nargs="+", metavar="HALF", help="tuning, reporting")
    parser.add_argument("--cli", required=True)
    parser.add_argument("--python", required=True)
    parser.add_argument("--every", type=int, default=1, help="of the healthy programs each N-th")
    options = parser.parse_args()
    options.cli, options.python = os.path.abspath(options.cli), os.path.abspath(options.python)
    for half in set(REPORTED_ONLY) & set(options.halves):
        check_unchanged(half)
    for half in options.halves:
        cases = [each for each in json.loads((HERE / half / "cases.json").read_text()) if not each["faulty"]]
        costs = []
        for case in cases[:: options.every]:
            with tempfile.TemporaryDirectory() as name:
                found = cost(options, half, case, Path(name))
            if found is None:
                print(f"{case['family']}-{case['case']} failed, and is left out", file=sys.stderr)
            else:
                costs.append(found)
        if not costs:
            sys.exit(f"overhead_of_programs.py: no program of {half} could be timed")
        print(json.dumps({half: figures(costs)}, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
