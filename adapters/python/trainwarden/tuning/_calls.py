"""How the program is asked about one study."""

from __future__ import annotations

import json
import logging
import os
import tempfile
from collections.abc import Iterable, Mapping
from typing import Any, Optional, SupportsFloat, Union

from .. import _program, errors

PathLike = Union[str, "os.PathLike[str]"]

_USAGE, _TARGET_MISSED = 2, 5  # docs/reference/cli.md, "Exit codes"
_WARNING = "warning: "
_PRUNE = "prune: "  # of `study report`
_MOST_WHY = 2000  # characters

_logger = logging.getLogger("trainwarden")


def create(spec: Mapping[str, Any], folder: Optional[PathLike]) -> str:
    """Makes the study, and returns its name."""
    try:
        text = json.dumps(spec)
    except (TypeError, ValueError) as error:
        raise errors.InvalidArgument(f"a study: expected texts, numbers, lists and tables: {error}") from None
    with tempfile.TemporaryDirectory() as own:
        file = os.path.join(own, "study.json")
        with open(file, "w", encoding="utf-8") as out:
            out.write(text)
        try:
            answer = _json(["study", "create", *_folder_words(folder), "--json", "--", file])
        except errors.Error as error:  # it names the file, which nobody knows
            raise type(error)(str(error).replace(file, "study")) from None
    return str(answer["study"])


class Calls:
    """Sub-commands of `trainwarden study` with one study. May be used from many threads."""

    def __init__(self, name: str, folder: Optional[PathLike]):
        self._name = name
        self._folder = _folder_words(folder)

    def show(self) -> dict[str, Any]:
        answer: dict[str, Any] = _json(self._words("show", "--json"), fine=(0, _TARGET_MISSED))
        return answer

    def show_trial(self, number: int) -> dict[str, Any]:
        answer: dict[str, Any] = _json(self._words("show", f"--trial={number}", "--json"))
        return answer

    def importance(self, metric: str) -> dict[str, Any]:
        options = [f"--metric={cleaned(metric)}"] if metric else []
        answer: dict[str, Any] = _json(self._words("importance", *options, "--json"))
        return answer

    def ask(self, worker: str, lease_s: float) -> dict[str, Any]:
        options = [f"--worker={cleaned(worker)}"] if worker else []
        answer: dict[str, Any] = _json(self._words("ask", *options, *_lease_words(lease_s), "--json"))
        return answer

    def enqueue(self, params: Mapping[str, Any]) -> dict[str, Any]:
        words = [f"{name}={_text_of(value)}" for name, value in params.items()]
        answer: dict[str, Any] = _json([*self._words("enqueue", "--json"), *words])
        return answer

    def extend(self, number: int, name: str, asked: Mapping[str, Any]) -> Any:
        """The value of a parameter that the trial asks for, which an open study need not know."""
        words = [*self._words("extend", "--json"), str(number), f"{name}={json.dumps(asked)}"]
        return _json(words)["values"][name]

    def report(self, number: int, step: int, metrics: Mapping[str, SupportsFloat], lease_s: float) -> str:
        """Why the study's pruner would end the trial now; empty: it goes on."""
        options = [f"--step={step}", *_lease_words(lease_s)]
        said = _text([*self._words("report", *options), str(number), *_metric_words(metrics)]).strip()
        return said[len(_PRUNE) :] if said.startswith(_PRUNE) else ""

    def tell(self, number: int, metrics: Mapping[str, SupportsFloat], *options: str, why: str = "") -> None:
        words = [*options, f"--why={cleaned(why)}"] if why else list(options)
        _text([*self._words("tell", *words), str(number), *_metric_words(metrics)])

    def note_words(self, unused: Iterable[str], attributes: Mapping[str, Any]) -> list[str]:
        """Options of tell(): optional parameters that had no effect, and what is kept with the trial."""
        kept = [f"--attribute={key}={_json_text(key, value)}" for key, value in attributes.items()]
        return [*(f"--unused={name}" for name in unused), *kept]

    def stop(self) -> None:
        _text(self._words("stop"))

    def resume(self) -> None:
        _text(self._words("resume"), fine=(0, _TARGET_MISSED))

    def _words(self, command: str, *options: str) -> list[str]:
        return ["study", command, *self._folder, *options, "--", self._name]


def cleaned(text: str) -> str:
    """As an argument of a program can be; too long a text keeps its end."""
    plain = text.encode("utf-8", "replace").decode().replace("\0", "\\0")
    return plain if len(plain) <= _MOST_WHY else f"...{plain[3 - _MOST_WHY :]}"


def _folder_words(folder: Optional[PathLike]) -> list[str]:
    return [f"--studies={os.path.abspath(folder)}"] if folder is not None else []


def _lease_words(seconds: float) -> list[str]:
    return [f"--lease={seconds!r}"] if seconds else []


def _metric_words(metrics: Mapping[str, SupportsFloat]) -> list[str]:
    return [f"{name}={number(name, value)!r}" for name, value in metrics.items()]


def number(name: str, value: object) -> float:
    """A metric's value, of whatever kind of number: of NumPy or a tensor with one element, too."""
    if not isinstance(value, (str, bytes)):
        try:
            return float(value)  # type: ignore[arg-type]
        except (TypeError, ValueError, OverflowError):
            pass
    raise errors.InvalidArgument(f"{name}: expected a number, found {type(value).__name__}")


def _json_text(key: str, value: Any) -> str:
    try:
        return json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        return json.dumps(repr(value))


def _text_of(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return cleaned(value) if isinstance(value, str) else repr(value)


def _text(words: list[str], fine: tuple[int, ...] = (0,)) -> str:
    """What it prints. InvalidArgument when it says that something is wrong with what was asked, FailedPrecondition
    for all else. What it warns of is logged."""
    done = _program.run(*words)
    said = _program.plain(done.stderr)
    if done.returncode not in fine:
        kind = errors.InvalidArgument if done.returncode == _USAGE else errors.FailedPrecondition
        raise kind(said or f"trainwarden {words[0]} {words[1]} ended with exit code {done.returncode}")
    for line in said.splitlines():
        if line.startswith(_WARNING):
            _logger.warning(line[len(_WARNING) :])
    return done.stdout


def _json(words: list[str], fine: tuple[int, ...] = (0,)) -> Any:
    return json.loads(_text(words, fine))
