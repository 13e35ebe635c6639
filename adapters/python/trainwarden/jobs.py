"""Jobs: trainings that are submitted, and go on by themselves when this program has ended.

    from trainwarden import jobs

    job = jobs.submit({"entry_point": "train.py", "hyperparameters": {"lr": 0.1}, "rules": ["default"]})
    for line in job.logs(follow=True):
        print(line)
    print(job.wait(), job.trial().steps()[-1])

The keys are those of docs/reference/job-spec.md. All is done by the program `trainwarden`, as on the command line; a
Python that ends changes nothing for a job. Jobs lie in the folder `jobs`: TRAINWARDEN_JOBS, else ./jobs.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Optional, Union

from . import _program, errors

if TYPE_CHECKING:
    from .trial import Trial

__all__ = ["Job", "Mistake", "get", "lint", "list_jobs", "submit"]

PathLike = Union[str, "os.PathLike[str]"]
Spec = Union[Mapping[str, Any], PathLike]
_FAILED = 1


class Mistake(NamedTuple):
    """What is wrong with a spec, and where: "job.toml, line 7"; "standard input, inputs.train" of a mapping."""

    place: str
    message: str


class Job:
    """A job that was submitted, by whomever. May be used from many threads."""

    def __init__(self, name: str, folder: Optional[PathLike] = None):
        self.name = name
        self._in_folder = _folder_words(folder)

    def __repr__(self) -> str:
        return f"Job({self.name!r})"

    def describe(self) -> dict[str, Any]:
        """Where it stands and how it came there: the keys of `trainwarden job describe --json`."""
        description: dict[str, Any] = self._ask("describe")
        return description

    @property
    def status(self) -> str:
        """InProgress, Stopping, Completed, Failed or Stopped."""
        return str(self.describe()["status"])

    @property
    def run(self) -> Path:
        """The folder of its run, which is there once its program has begun."""
        return Path(self.describe()["run"])

    def trial(self) -> Trial:
        """A read handle on its run. PathNotFound before its program has begun."""
        from .trial import open as open_trial

        return open_trial(self.run)

    def logs(self, follow: bool = False, rule: str = "") -> Iterator[str]:
        """The lines that its program has printed, without their ends; with `follow` until the job has ended.

        With `rule` those of this rule's log, of rules(); none when no rule of the job has this id.
        Only the reading ends when the iterator is thrown away, never the job.
        """
        words = [_program.find(), "job", "logs", self.name, *self._in_folder, *(["--follow"] if follow else [])]
        words += ["--rule", rule] if rule else []
        reader = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            errors="replace",
        )
        assert reader.stdout is not None
        try:
            for line in reader.stdout:
                yield line.rstrip("\n")
        finally:
            reader.kill()
            reader.stdout.close()
            reader.wait()

    def rules(self) -> dict[str, dict[str, Any]]:
        """Where each rule that judges its run stands, by the rule's id.

        The keys are those of `rules` in `trainwarden job describe --json`: status, details, changed (a time as text),
        alerts, step (None: it has not fired, or not at a step), log (a path).
        """
        return {rule.pop("rule"): rule for rule in self.describe()["rules"]}

    def wait(self) -> str:
        """Waits for its end: seconds to weeks. Returns Completed, Failed or Stopped."""
        return str(self._ask("wait", fine=(0, _FAILED))["status"])

    def stop(self, wait: bool = False) -> str:
        """Asks it to stop: SIGTERM, and SIGKILL after 120 s. Returns where it stands; with `wait` after its end."""
        return str(self._ask("stop", *(["--wait"] if wait else []))["status"])

    def resume(self) -> str:
        """Goes on with a job that has failed or was stopped, as its next attempt, in the same run.

        FailedPrecondition when it is Completed, or has not ended.
        """
        return str(self._ask("resume")["status"])

    def files(self) -> dict[str, Path]:
        """Its results, checkpoints and logs of rules: {"output/model.tar.gz": path, ...}."""
        return {file["name"]: Path(file["path"]) for file in self._ask("files")["files"]}

    def _ask(self, command: str, *words: str, fine: tuple[int, ...] = (0,)) -> Any:
        return _program.ask("job", command, self.name, *words, *self._in_folder, fine=fine)


def submit(
    spec: Spec,
    *,
    name: str = "",
    backend: str = "",
    folder: Optional[PathLike] = None,
    runs: Optional[PathLike] = None,
) -> Job:
    """Submits a training and returns at once.

    `spec` is a file in TOML or JSON, or a mapping with the same keys; relative paths in a mapping begin in the folder
    that this process works in. `backend` is where it runs, whatever the spec says. `folder` holds the jobs, `runs` their
    runs (TRAINWARDEN_RUNS, else ./runs).

    InvalidArgument tells every mistake of the spec, one a line.
    """
    words, text = _spec_words(spec)
    options = {"--name": name, "--backend": backend, "--runs": os.fspath(runs) if runs is not None else ""}
    for option, value in options.items():
        words += [option, value] if value else []
    answer = _program.ask("submit", *words, *_folder_words(folder), text=text)
    return Job(answer["job"], folder)


def lint(spec: Spec) -> list[Mistake]:
    """All that is wrong with a spec: a file or a mapping, as for submit()."""
    words, text = _spec_words(spec)
    answer = _program.ask("job", "lint", *words, text=text, fine=(0, 1, 2))
    return [Mistake(each["place"], each["message"]) for each in answer["mistakes"]]


def get(name: str, folder: Optional[PathLike] = None) -> Job:
    """The job with this name. FailedPrecondition when there is none, with the nearest name."""
    job = Job(name, folder)
    job.describe()
    return job


def list_jobs(folder: Optional[PathLike] = None) -> list[dict[str, Any]]:
    """All jobs, the newest first: the keys of `trainwarden job ls --json`."""
    jobs: list[dict[str, Any]] = _program.ask("job", "ls", *_folder_words(folder))["jobs"]
    return jobs


def _folder_words(folder: Optional[PathLike]) -> list[str]:
    return ["--jobs", os.path.abspath(folder)] if folder is not None else []


def _spec_words(spec: Spec) -> tuple[list[str], Optional[str]]:
    if not isinstance(spec, Mapping):
        return [os.fspath(spec)], None
    try:
        return ["-"], json.dumps(spec)
    except (TypeError, ValueError) as error:
        raise errors.InvalidArgument(f"a job's spec: expected texts, numbers, lists and tables: {error}") from None
