"""Transfer: exports runs to the formats of other programs, and imports their runs.

    import trainwarden

    report = trainwarden.export("runs/first", to="tensorboard", out="board")
    for note in report.notes:
        print("lost" if note.lost else "changed", note.cause, note.count)

    trainwarden.import_run("old/smdebug-tensors", "runs/old")
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from typing import Optional, Union

from . import _core
from ._core import ExportNote, ExportReport, ImportReport
from .errors import Unavailable, opening
from .options import Mode
from .trial import ModeLike, Trial, open as open_trial

__all__ = ["ExportNote", "ExportReport", "Exporter", "ImportReport", "Steps", "export", "import_run"]

Steps = Union[str, range, slice, Iterable[int]]

_POLL_INTERVAL_S = 0.2


class Exporter:
    """Writes a run's tensors in the format of another program, while the run is written or after.

    Each poll() exports the complete steps that are new; finish() writes the end marks.

        exporter = trainwarden.Exporter("runs/first", "tensorboard", "board")
        while not exporter.run_ended:
            exporter.poll()
            time.sleep(1)
        print(exporter.finish().bytes)

    When the same export is started again, an unfinished folder is continued. A file (csv, json) exists only when whole.

    Arguments:
        run: a trial, or the run's folder.
        to: "smdebug", "tensorboard", "safetensors", "npz", "csv" or "json".
        out: a file for csv and json, a folder for the others.
        include: a pattern (PCRE2, found anywhere in a tensor's name) or several: any of them.
        collection: only members of this collection.
        steps: of their mode when `modes` names some, else global. "0:1000", "::10", "5,7", a range, a slice or numbers.
        modes: a mode or several.
        workers: a worker's name or several.
        images: tensorboard: patterns of the tensors that are also shown as images.
        record_crc: smdebug: true checksums, which TensorFlow reads and smdebug by default does not.
        force: write to `out` although it holds something; nothing is removed.

    Raises:
        FileNotFoundError: there is no run.
        FileExistsError: `out` holds something else, or another process exports there.
        ValueError: a wrong format, pattern, mode or range.
        OSError: `out` cannot be written.
    """

    def __init__(
        self,
        run: Trial | str | os.PathLike[str],
        to: str,
        out: str | os.PathLike[str],
        *,
        include: str | Iterable[str] = (),
        collection: str = "",
        steps: Steps | None = None,
        modes: ModeLike | Iterable[ModeLike] = (),
        workers: str | Iterable[str] = (),
        images: str | Iterable[str] = (),
        record_crc: bool = False,
        force: bool = False,
    ):
        self.trial = run if isinstance(run, Trial) else open_trial(run)
        self._core = _core.Export(
            self.trial._core,
            to,
            os.fspath(out),
            _texts(include),
            collection,
            [str(Mode(mode).value) for mode in _several_modes(modes)],
            _ranges(steps),
            _texts(workers),
            _texts(images),
            record_crc,
            force,
        )

    def poll(self) -> None:
        """Refreshes the trial and writes the complete steps that are new.

        Raises:
            NotFound (LookupError): there is no such collection or worker.
            Unavailable (OSError): the run cannot be read at the moment; call again.
            OSError: a write failed; nothing more can be written.
        """
        self._core.poll()

    @property
    def run_ended(self) -> bool:
        """The run has ended, and every step of it was written."""
        return self._core.run_ended

    def finish(self) -> ExportReport:
        """Writes the end marks and gives a file its name. Once."""
        return self._core.finish()


def export(
    run: Trial | str | os.PathLike[str],
    to: str,
    out: str | os.PathLike[str],
    *,
    include: str | Iterable[str] = (),
    collection: str = "",
    steps: Steps | None = None,
    modes: ModeLike | Iterable[ModeLike] = (),
    workers: str | Iterable[str] = (),
    images: str | Iterable[str] = (),
    record_crc: bool = False,
    force: bool = False,
    follow: bool = False,
) -> ExportReport:
    """Exports a run. Arguments and errors are those of Exporter.

    Arguments:
        follow: export a live run until it ends; False: export the existing steps.

    Returns:
        What was written, and what the format could not hold (docs/reference/export.md).
    """
    exporter = Exporter(
        run,
        to,
        out,
        include=include,
        collection=collection,
        steps=steps,
        modes=modes,
        workers=workers,
        images=images,
        record_crc=record_crc,
        force=force,
    )
    exporter.poll()
    while follow and not exporter.run_ended:
        time.sleep(_POLL_INTERVAL_S)
        try:
            exporter.poll()
        except Unavailable:
            continue
    return exporter.finish()


def import_run(source: str | os.PathLike[str], target: str | os.PathLike[str]) -> ImportReport:
    """Converts the run that smdebug recorded in `source` into a Trainwarden run in the new folder `target`.

    Raises:
        FileNotFoundError: there is no run in `source`.
        FileExistsError: `target` exists already.
        ValueError: `source` is a Trainwarden run.
    """
    with opening():
        return _core.import_run(os.fspath(source), os.fspath(target))


def _texts(one_or_several: str | Iterable[str]) -> list[str]:
    return [one_or_several] if isinstance(one_or_several, str) else list(one_or_several)


def _several_modes(modes: ModeLike | Iterable[ModeLike]) -> list[ModeLike]:
    return [modes] if isinstance(modes, (str, Mode)) else list(modes)


def _ranges(steps: Steps | None) -> list[tuple[int, Optional[int], int]]:
    """First, end (exclusive) and stride of each."""
    if steps is None:
        return []
    if isinstance(steps, str):
        return _core.parse_steps(steps)
    if isinstance(steps, range):
        return [(steps.start, steps.stop, steps.step)]
    if isinstance(steps, slice):
        first, stride = steps.start, steps.step
        return [(0 if first is None else first, steps.stop, 1 if stride is None else stride)]
    return [(step, step + 1, 1) for step in steps]
