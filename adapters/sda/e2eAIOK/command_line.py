"""The kit's command `run_e2eaiok`: a model is trained, or its parameters searched, and what was found is said."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any, Optional

from trainwarden.errors import Error

from .SDA.errors import SDAError
from .SDA.SDA import SDA

EXIT_FAILED, EXIT_WRONG_USAGE = 1, 2

_EPILOG = """
examples:
  run_e2eaiok --model_name bert --data_path squad --enable_sigopt --conf search.yaml
  run_e2eaiok --model_name bert --data_path squad

What is in the file of --conf takes the place of the options here. Exit codes: 0 the target was met, or none was set;
5 it was missed; 1 no training came to its end; 2 wrong usage.
"""


def settings_of(arguments: Sequence[str]) -> dict[str, Any]:
    """The settings that the words of a command line mean. Ends the program where they are wrong."""
    parser = argparse.ArgumentParser(prog="run_e2eaiok", description=__doc__, epilog=_EPILOG,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    parser.add_argument("--model_name", required=True, help="a model that is known here: bert")
    parser.add_argument("--data_path", help="folder with its data")
    parser.add_argument("--conf", help="YAML file with what is searched, metrics and any other setting")
    parser.add_argument("--custom_result_path", help="folder of studies and results (default: this one)")
    parser.add_argument("--program", help="the trainer")
    parser.add_argument("--enable_sigopt", action="store_true", help="search parameters, in place of one training")
    parser.add_argument("--executable_python", help="has no effect here, which the log says")
    parser.add_argument("--no_model_cache", dest="enable_model_cache", action="store_false", default=None,
                        help="has no effect here, which the log says")  # fmt: skip
    parser.add_argument("--interactive", dest="interative", action="store_true", default=None,
                        help="has no effect here, which the log says")  # fmt: skip
    given = vars(parser.parse_args(arguments))
    return {name: value for name, value in given.items() if value is not None}


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Returns the exit code."""
    settings = settings_of(sys.argv[1:] if arguments is None else arguments)
    try:
        sda = SDA(model=settings.pop("model_name"), settings=settings)
        sda.launch()
    except (SDAError, Error) as error:
        print(f"run_e2eaiok: {error}", file=sys.stderr)
        return EXIT_WRONG_USAGE if isinstance(error, SDAError) else EXIT_FAILED
    sda.snapshot().explain()
    return sda.exit_code
