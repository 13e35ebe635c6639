"""Opening: the hook of an untouched program, when its training begins. Each framework's adapter comes through here."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Optional

from . import _horovod
from ._arguments import parsed_parameters
from ._frameworks import trained_with
from ._places import is_in_bucket
from .errors import AlreadyExists
from .faults import is_of_signal_handler, say
from .hook import Hook


def run_folder(run_dir: Optional[str]) -> Optional[str]:
    """Where attach(run_dir) has the run: there, else where TRAINWARDEN_RUN_DIR says, whatever folder the program goes to
    later. None: the configuration has the word."""
    folder = run_dir or os.environ.get("TRAINWARDEN_RUN_DIR") or None
    return folder if folder is None or is_in_bucket(folder) else os.path.abspath(folder)


def open_for_attach(
    run_dir: Optional[str],
    frameworks: Sequence[str],
    *,
    labels: Optional[Mapping[str, str]] = None,
    **options: Any,
) -> Optional[Hook]:
    """The hook with these options of Hook.for_attach(), in `run_dir` or where the environment says; None, said once on
    standard error, when there can be none. `frameworks`: the modules that the program trains with. `labels` come beside
    what the program parsed of its command line."""
    if "rank" not in options:
        place = _horovod.rank_and_size()
        if place is not None:
            options.update(rank=place[0], world_size=place[1])
    options["framework"] = trained_with(*frameworks)
    options["labels"] = {**parsed_parameters(), **(labels or {})}
    if run_dir is not None:
        options["run_dir"] = run_dir
    folder = run_folder(options.get("run_dir"))
    has_steps = folder is not None and _has_steps(folder)
    try:
        hook = _open(options)
    except Exception as error:
        if is_of_signal_handler(error):
            raise
        say(f"error: nothing is captured of process {os.getpid()}: {error}")
        return None
    begins_anew = has_steps and not options.get("first_global_step")
    if begins_anew and hook.rank == 0 and os.path.abspath(hook.run_dir) == folder:
        say(
            f"{hook.run_dir} has steps of an earlier process, and process {os.getpid()} counts from 0: where both have "
            "a step, the later one is shown; with a --name of its own this is another run"
        )
    return hook


def _has_steps(folder: str) -> bool:
    """Has an earlier process, which did not come to its end, begun to write steps there?"""
    return not is_in_bucket(folder) and os.path.exists(os.path.join(folder, "journal", "rank-00000", "seg-00000000.tw"))


def _open(options: dict[str, Any]) -> Hook:
    """Where another process has taken the folder, in one beside it."""
    try:
        return Hook.for_attach(**options)
    except AlreadyExists as error:
        taken = options.get("run_dir") or os.environ.get("TRAINWARDEN_RUN_DIR")
        if not taken:
            raise
        beside = f"{str(taken).rstrip('/')}-p{os.getpid()}"
        alone = {**options, "rank": 0, "world_size": 1}
        try:
            hook = Hook.for_attach(**{**alone, "run_dir": beside})
        except AlreadyExists:  # of a process with the same id in another container
            beside = f"{beside}-{os.urandom(8).hex()}"
            hook = Hook.for_attach(**{**alone, "run_dir": beside})
        say(f"process {os.getpid()} is captured in {beside}: {error}")
        return hook
