"""Experiments: says what a program does, with what, and what comes of it, from wherever it runs.

    from trainwarden.experiments import Tracker

    with Tracker("eval-1", experiment="digits") as tracker:
        tracker.log_parameters({"batch": 32})
        tracker.log_metric("accuracy", 0.97)

It writes one small file into the folder of experiments (docs/reference/experiments.md), without a service and without
`trainwarden._core`. `trainwarden experiment create` makes experiments, and `trainwarden experiment` searches them.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import threading
import time
import uuid
from pathlib import Path
from types import TracebackType
from typing import Any, Union

from .errors import AlreadyExists, FailedPrecondition, InvalidArgument, PathNotFound

__all__ = ["Tracker", "create_experiment", "default_trial"]

_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9-]{0,118}[A-Za-z0-9])?")
_FORMAT = 1
_FLUSH_S = 1.0
_MAX_PARAMETERS, _MAX_ARTIFACTS, _MAX_METRICS, _MAX_TAGS = 300, 60, 1000, 50
_MAX_KEY, _MAX_TEXT, _MAX_URI, _MAX_MEDIA_TYPE, _MAX_MESSAGE = 256, 2500, 2048, 64, 1024
_MAX_HASHED_BYTES, _MAX_HASHED_FILES = 1 << 30, 10_000
_TYPES = {"model": "Model", "checkpoint": "Checkpoint", "checkpoints": "Checkpoint", "code": "Code",
          "environment": "Environment", "image": "Image", "run": "DebugOutput"}  # fmt: skip

Value = Union[bool, int, float, str]
PathLike = Union[str, "os.PathLike[str]"]


def default_trial(experiment: str) -> str:
    """The trial of what names none: `Default-Run-Group-EXPERIMENT`."""
    return ("Default-Run-Group-" + experiment)[:120].rstrip("-")


def create_experiment(
    name: str, *, display_name: str = "", description: str = "", folder: PathLike | None = None
) -> None:
    """Makes an experiment. AlreadyExists when there is one.

    `folder` holds the experiments: TRAINWARDEN_EXPERIMENTS, else ./experiments.
    """
    _check_name("experiment", name)
    _check_text("display_name", display_name, 120)
    _check_text("description", description, 3072)
    document = {"format": _FORMAT, "name": name, "display_name": display_name, "description": description,
                "created": time.time_ns(), "tags": {}}  # fmt: skip
    if not _put_once(_experiments(folder) / "experiments" / f"{name}.json", document):
        raise AlreadyExists(f'there is an experiment "{name}" already')


class Tracker:
    """Says things of one component, which is made when it is new. May be used from many threads.

    What is logged is written a second later at the latest, by a thread of its own, and when it is closed; it then
    survives the end of the program in whatever way. Metrics are kept as summaries: count, smallest, largest, mean,
    deviation and last value.
    """

    def __init__(
        self,
        component: str,
        *,
        experiment: str = "",
        trial: str = "",
        display_name: str = "",
        run_name: str = "",
        folder: PathLike | None = None,
    ) -> None:
        """`experiment` must exist (PathNotFound); its trial is made, `Default-Run-Group-EXPERIMENT` when none is named.

        `display_name` is what people read, `run_name` what a run is called within its experiment; both count when the
        component is made here. `folder` holds the experiments: TRAINWARDEN_EXPERIMENTS, else ./experiments. InvalidArgument for a name that is
        none, FailedPrecondition for a trial of another experiment.
        """
        _check_name("component", component)
        _check_text("display_name", display_name, 120)
        _check_text("run_name", run_name, 120)
        self.component = component
        self._folder = _experiments(folder)
        self._lock = threading.Lock()
        self._record: dict[str, Any] = {"parameters": {}, "metrics": {}, "inputs": {}, "outputs": {}, "tags": {}}
        self._dirty, self._closed, self._says_status = False, False, True
        self._wake = threading.Event()
        now = time.time_ns()
        first: dict[str, Any] = {"format": _FORMAT, "time": now, "status": "InProgress", "start": now}
        if display_name:
            first["display_name"] = display_name
        if run_name:
            first["run_name"] = run_name
        if experiment or trial:
            first["trials"] = [self._ensure_trial(experiment, trial)]
        own = self._folder / "components" / component
        if not _put_once(own / "component.json", first) and "trials" in first:
            self._record["trials"] = first["trials"]
            self._dirty = True
        self._file = own / f"tracker-{uuid.uuid4().hex}.json"
        self._thread = threading.Thread(target=self._write_on, name="trainwarden-tracker", daemon=True)
        self._thread.start()

    @classmethod
    def load(cls) -> Tracker:
        """That of the job that this program runs in. FailedPrecondition outside of a job of an experiment."""
        component = os.environ.get("TRAINWARDEN_COMPONENT", "")
        if not component:
            raise FailedPrecondition("this program is no job of an experiment; name a component: Tracker(NAME)")
        tracker = cls(component)
        tracker._says_status = False  # how the job stands is the job's to say
        return tracker

    def log_parameter(self, name: str, value: Value) -> None:
        """A number or a text; True and False are texts. What is said later takes the place of what was said before."""
        self.log_parameters({name: value})

    def log_parameters(self, parameters: dict[str, Value]) -> None:
        """All of them or, when one cannot be a parameter, none."""
        said = {}
        for name, value in parameters.items():
            _check_key("parameter", name)
            is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
            said[name] = _number(float(value)) if is_number else str(value)
            if isinstance(said[name], str):
                _check_text(f"parameter {name}", str(said[name]), _MAX_TEXT)
        self._update("parameters", said, _MAX_PARAMETERS)

    def log_metric(self, name: str, value: float, *, timestamp: float | None = None, is_last: bool = True) -> None:
        """One more value of a metric; NaN and infinities count and may be the last one.

        `timestamp` is when it was measured, in seconds since 1970 (now). A value that comes late, behind one that was
        measured after it, has `is_last` False: it counts, and the last one stays.
        """
        _check_key("metric", name)
        with self._lock:
            self._check_open()
            metrics = self._record["metrics"]
            if name not in metrics and len(metrics) == _MAX_METRICS:
                raise InvalidArgument(f"{_MAX_METRICS} metrics are the most")
            unix_ns = time.time_ns() if timestamp is None else int(timestamp * 1e9)
            _add_value(metrics.setdefault(name, _no_values()), float(value), unix_ns, is_last)
            self._dirty = True

    def log_input(self, name: str, uri: PathLike, media_type: str = "") -> None:
        """What went in: a path, whose content is hashed, or an address."""
        self._update("inputs", {name: _artifact(name, uri, media_type, "DataSet")}, _MAX_ARTIFACTS)

    def log_output(self, name: str, uri: PathLike, media_type: str = "") -> None:
        """What came out: a path, whose content is hashed, or an address."""
        self._update("outputs", {name: _artifact(name, uri, media_type, "Output")}, _MAX_ARTIFACTS)

    def set_tag(self, key: str, value: str) -> None:
        """A text of 256 bytes at most."""
        _check_key("tag", key)
        _check_text(f"tag {key}", value, _MAX_KEY)
        self._update("tags", {key: value}, _MAX_TAGS)

    def flush(self) -> None:
        """Returns when all that was logged is in its file. OSError when it cannot be written."""
        with self._lock:
            if self._dirty:
                record = {name: part for name, part in self._record.items() if part}
                _replace(self._file, {"format": _FORMAT, "time": time.time_ns(), **record})
                self._dirty = False

    def close(self, status: str = "Completed", message: str = "") -> None:
        """Says how it ended: Completed, Failed or Stopped; not of a job's component. A second call does nothing."""
        if status not in ("Completed", "Failed", "Stopped"):
            raise InvalidArgument(f'status "{status}"; expected Completed, Failed or Stopped')
        with self._lock:
            if self._closed:
                return
            self._closed = True
            if self._says_status:
                self._record.update(status=status, message=_cut(message, _MAX_MESSAGE), end=time.time_ns())
                self._dirty = True
        self._wake.set()
        self._thread.join()
        self.flush()

    def __enter__(self) -> Tracker:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()
        else:
            self.close("Failed", f"{kind.__name__}: {error}")

    def _write_on(self) -> None:
        while not self._wake.wait(_FLUSH_S):
            try:
                self.flush()
            except OSError:
                pass  # tried again in a second, and close() raises what is still wrong then

    def _update(self, part: str, said: dict[str, Any], most: int) -> None:
        with self._lock:
            self._check_open()
            merged = {**self._record[part], **said}
            if len(merged) > most:
                raise InvalidArgument(f"{len(merged)} {part}; {most} are the most")
            self._record[part] = merged
            self._dirty = True

    def _check_open(self) -> None:
        if self._closed:
            raise FailedPrecondition(f"the tracker of {self.component} is closed")

    def _ensure_trial(self, experiment: str, trial: str) -> str:
        trial = trial or default_trial(experiment)
        _check_name("trial", trial)
        file = self._folder / "trials" / f"{trial}.json"
        if experiment:
            _check_name("experiment", experiment)
            if not (self._folder / "experiments" / f"{experiment}.json").is_file():
                raise PathNotFound(
                    f'there is no experiment "{experiment}" in {self._folder}; make it with create_experiment()'
                )
            document = {"format": _FORMAT, "name": trial, "experiment": experiment, "display_name": "",
                        "created": time.time_ns()}  # fmt: skip
            if not _put_once(file, document):
                belongs = json.loads(file.read_text(encoding="utf-8"))["experiment"]
                if belongs != experiment:
                    raise FailedPrecondition(f'the trial "{trial}" belongs to the experiment "{belongs}"; name another')
        elif not file.is_file():
            raise PathNotFound(f'there is no trial "{trial}" in {self._folder}; name its experiment')
        return trial


def _experiments(folder: PathLike | None) -> Path:
    return Path(folder or os.environ.get("TRAINWARDEN_EXPERIMENTS") or "experiments").absolute()


def _check_name(kind: str, name: str) -> None:
    if not _NAME.fullmatch(name):
        raise InvalidArgument(
            f'"{name}" is no name of a {kind}; expected letters and digits with hyphens between them, 120 at most'
        )


def _check_text(what: str, text: str, most: int) -> None:
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > most:
        raise InvalidArgument(f"{what} has {size} bytes; {most} are the most")


def _check_key(kind: str, name: str) -> None:
    if not name:
        raise InvalidArgument(f"the name of a {kind} is empty")
    _check_text(f"the name of a {kind}", name, _MAX_KEY)


def _cut(text: str, most: int) -> str:
    return text.encode("utf-8", "replace")[:most].decode("utf-8", "ignore")


def _number(value: float) -> float | str:
    """As the format has it: JSON has no NaN."""
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _no_values() -> dict[str, Any]:
    return {"count": 0, "finite": 0, "min": 0.0, "max": 0.0, "mean": 0.0, "m2": 0.0, "last": 0.0, "last_time": 0}


def _add_value(summary: dict[str, Any], value: float, unix_ns: int, is_last: bool) -> None:
    """Welford's update, as src/work/experiments/metric_summary.cc has it."""
    summary["count"] += 1
    if is_last or summary["count"] == 1:
        summary["last"], summary["last_time"] = _number(value), unix_ns
    if not math.isfinite(value):
        return
    summary["min"] = min(summary["min"], value) if summary["finite"] else value
    summary["max"] = max(summary["max"], value) if summary["finite"] else value
    summary["finite"] += 1
    distance = value - summary["mean"]
    summary["mean"] += distance / summary["finite"]
    summary["m2"] += distance * (value - summary["mean"])


def _artifact(name: str, uri: PathLike, media_type: str, otherwise: str) -> dict[str, Any]:
    _check_key("artifact", name)
    address = os.fspath(uri)
    _check_text(f"the media type of {name}", media_type, _MAX_MEDIA_TYPE)
    use: dict[str, Any] = {"uri": address, "type": _TYPES.get(name.lower(), otherwise)}
    if media_type:
        use["media_type"] = media_type
    if address.startswith("file://"):
        path = Path(address.removeprefix("file://"))
    elif "://" in address:
        path = None
    else:
        path = Path(os.path.abspath(address))
        use["uri"] = str(path)
    _check_text(f"the address of {name}", use["uri"], _MAX_URI)
    if not use["uri"]:
        raise InvalidArgument(f"artifact {name} has no address")
    if path is not None:
        _hash_into(use, path)
    return use


class _TooMuch(Exception):
    pass


class _Hasher:
    """As src/work/experiments/content_hash.cc: the same content has the same hash there."""

    def __init__(self) -> None:
        self.bytes, self.files = 0, 0

    def file(self, path: Path) -> str:
        self.files += 1
        digest = hashlib.sha256()
        with open(path, "rb") as file:
            while chunk := file.read(1 << 20):
                digest.update(chunk)
                self.bytes += len(chunk)
                if self.bytes > _MAX_HASHED_BYTES:
                    raise _TooMuch
        if self.files > _MAX_HASHED_FILES:
            raise _TooMuch
        return digest.hexdigest()

    def list(self, folder: Path, beneath: bytes) -> bytes:
        manifest = b""
        for entry in sorted(os.scandir(folder), key=lambda entry: os.fsencode(entry.name)):
            path = beneath + os.fsencode(entry.name)
            if entry.is_symlink():
                self.files += 1
                manifest += b"link " + path + b"\0"
            elif entry.is_dir():
                if entry.name not in (".git", "__pycache__"):
                    manifest += self.list(Path(entry.path), path + b"/")
            elif entry.is_file():
                manifest += self.file(Path(entry.path)).encode() + b" " + path + b"\0"
        return manifest


def _hash_into(use: dict[str, Any], path: Path) -> None:
    hasher = _Hasher()
    try:
        real = path.resolve(strict=True)
        digest = hashlib.sha256(hasher.list(real, b"")).hexdigest() if real.is_dir() else hasher.file(real)
        use["hash"], use["bytes"] = f"sha256:{digest}", hasher.bytes
    except _TooMuch:
        use["note"] = f"not hashed: more than {_MAX_HASHED_BYTES >> 30} GiB or {_MAX_HASHED_FILES} files"
    except OSError as error:
        use["note"] = _cut(f"cannot hash {path}: {error.strerror}", _MAX_MESSAGE)


def _write_beside(file: Path, document: dict[str, Any]) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    temporary = file.with_name(f".{file.name}.{uuid.uuid4().hex}")
    with open(temporary, "w", encoding="utf-8", errors="replace") as out:
        json.dump(document, out, allow_nan=False, separators=(",", ":"))
        out.write("\n")
        out.flush()
        os.fsync(out.fileno())
    return temporary


def _put_once(file: Path, document: dict[str, Any]) -> bool:
    """False when it is there already."""
    temporary = _write_beside(file, document)
    try:
        os.link(temporary, file)
    except FileExistsError:
        return False
    finally:
        temporary.unlink()
    return True


def _replace(file: Path, document: dict[str, Any]) -> None:
    os.replace(_write_beside(file, document), file)
