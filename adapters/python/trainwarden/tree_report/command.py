"""The command: python -m trainwarden.xgboost.report, and the same of LightGBM."""

from __future__ import annotations

import argparse
import json
import os
import sys
from typing import Optional

from .._places import is_in_bucket
from .._run_names import runs_folder
from ..errors import Error
from ..trial import open as open_trial
from .files import NUMBERS, PAGE, write_report
from .numbers import numbers_of

_ENDS = """Exit codes:
  0  the report was written
  1  there is no such run, it holds nothing of boosted trees, or the report cannot be written
  2  the command line is wrong"""


def _parser(module: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=f"python -m {module}",
        description=f"Writes a report of boosted trees: {PAGE}, a page in one file, and {NUMBERS}, its numbers.",
        epilog=_ENDS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "run", metavar="RUN", nargs="?", default=os.environ.get("TRAINWARDEN_RUN_PATH"),
        help="a run's name or folder; may be left out in a command of the action exec",
    )  # fmt: skip
    parser.add_argument(
        "--runs", metavar="DIR", help="folder that holds the runs (default: TRAINWARDEN_RUNS, else ./runs)"
    )
    parser.add_argument("--out", metavar="FOLDER", help="where the report goes (default: reports in the run's folder)")
    parser.add_argument(
        "--json", action="store_true", help="print the numbers as one JSON document; no files unless --out is given"
    )
    return parser


def main(module: str, arguments: Optional[list[str]] = None) -> int:
    """Returns the exit code."""
    parser = _parser(module)
    options = parser.parse_args(arguments)
    if not options.run:
        parser.error("expected RUN, a run's name or folder")
    run = _folder_of(options.run, options.runs)
    try:
        if options.json and options.out is None:
            document = numbers_of(open_trial(run))
        else:
            written = write_report(run, options.out)
            document = written.document
            if not options.json:
                print(written.page)
        if options.json:
            print(json.dumps(document, indent=1, allow_nan=False))
    except (Error, OSError) as error:
        print(f"trainwarden: error: {error}", file=sys.stderr)
        return 1
    return 0


def _folder_of(run: str, runs: Optional[str]) -> str:
    if is_in_bucket(run) or os.sep in run or (runs is None and os.path.isdir(run)):
        return run
    return os.path.join(runs_folder(runs), run)
