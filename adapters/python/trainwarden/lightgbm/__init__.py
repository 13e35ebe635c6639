"""LightGBM: each training of this process becomes a run.

`trainwarden run -- python train.py` does all of it for a program as it is. In a process that runs already, a notebook:

    import trainwarden.lightgbm as twl

    twl.attach()
    lightgbm.train(...)      # or LGBMClassifier().fit(...)
    twl.detach()

A report of a run, also where LightGBM is not installed: write_report(run, folder).
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Optional, Union

if TYPE_CHECKING:
    from ..tree_report import ReportFiles
    from ..trial import Trial

try:
    from .attach import attach, detach
except ModuleNotFoundError as missing:
    if missing.name is None or missing.name.partition(".")[0] != "lightgbm":
        raise

    def attach(run_dir: Optional[str] = None) -> None:
        raise ModuleNotFoundError(
            "LightGBM is not installed in this Python: there is nothing to attach to", name="lightgbm"
        )

    def detach() -> None:
        pass


def write_report(
    run: Union[str, os.PathLike[str], Trial], folder: Optional[Union[str, os.PathLike[str]]] = None
) -> ReportFiles:
    """Writes the report of a run, as far as it has come: see tree_report/files.py."""
    from ..tree_report import write_report as write  # a training needs none of it

    return write(run, folder)


__all__ = ["attach", "detach", "write_report"]
