"""A disk that is slow to read, and a container with less than a processor: made for one program, where the machine can.

Both take root's rights. What this machine cannot do raises `Missing`, with the reason.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
import shutil
import subprocess
from collections.abc import Iterator

GROUPS = pathlib.Path("/sys/fs/cgroup")
READ_BYTES_A_SECOND = 4 << 20
PROCESSORS = 0.35
PERIOD_US = 100_000
IMAGE_BYTES = 96 << 20


class Missing(Exception):
    """This machine has no such means."""


def in_group(group: pathlib.Path, command: list[str]) -> list[str]:
    """The command, started within a control group."""
    return ["sh", "-c", 'echo $$ >"$0/cgroup.procs" && exec "$@"', str(group), *command]


@contextlib.contextmanager
def group_of(controller: str, settings: dict[int, tuple[str, str]]) -> Iterator[pathlib.Path]:
    """A new control group with one setting; `settings` has file and value for version 1 and version 2."""
    version, parent = _parent_of(controller)
    group = parent / f"bottleneck-{os.getpid()}"
    file, value = settings[version]
    try:
        if version == 2:
            (parent / "cgroup.subtree_control").write_text(f"+{controller}")
        group.mkdir()
    except OSError as error:
        raise Missing(f"no control group with {controller} can be made in {parent}: {error.strerror}") from error
    try:
        try:
            (group / file).write_text(value)
        except OSError as error:
            raise Missing(f"{group / file} cannot be set to {value!r}: {error.strerror}") from error
        yield group
    finally:
        group.rmdir()


def _parent_of(controller: str) -> tuple[int, pathlib.Path]:
    """Version and folder of the group that we are in ourselves."""
    for line in pathlib.Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines():
        _, controllers, path = line.split(":", 2)
        folder = GROUPS / controller / path.lstrip("/")
        if controller in controllers.split(",") and folder.is_dir():
            return 1, folder
    folder = GROUPS / _unified_path().lstrip("/")
    known = folder / "cgroup.controllers"
    name = {"blkio": "io"}.get(controller, controller)
    if known.exists() and name in known.read_text(encoding="utf-8").split():
        return 2, folder
    raise Missing(f"no control group here has the controller {controller}")


def _unified_path() -> str:
    for line in pathlib.Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines():
        if line.startswith("0::"):
            return line[3:]
    return "/"


@contextlib.contextmanager
def processor_quota() -> Iterator[pathlib.Path]:
    """A control group that may use PROCESSORS processors."""
    quota = int(PROCESSORS * PERIOD_US)
    settings = {1: ("cpu.cfs_quota_us", str(quota)), 2: ("cpu.max", f"{quota} {PERIOD_US}")}
    with group_of("cpu", settings) as group:
        yield group


@contextlib.contextmanager
def disk(scratch: pathlib.Path) -> Iterator[tuple[pathlib.Path, str]]:
    """A folder on a disk of its own, which is a file here, and the disk's number MAJOR:MINOR."""
    if os.geteuid() != 0:
        raise Missing("to make a disk of a file takes root's rights")
    for tool in ("losetup", "mkfs.ext4", "mount"):
        if shutil.which(tool) is None:
            raise Missing(f"there is no {tool} here")
    image, folder = scratch / "disk.img", scratch / "disk"
    with image.open("wb") as file:
        file.truncate(IMAGE_BYTES)
    device = _said_by("losetup", "--find", "--show", str(image))
    try:
        _said_by("mkfs.ext4", "-q", device)
        folder.mkdir()
        _said_by("mount", device, str(folder))
        try:
            number = pathlib.Path("/sys/block", pathlib.Path(device).name, "dev").read_text(encoding="utf-8").strip()
            yield folder, number
        finally:
            _said_by("umount", str(folder))
    finally:
        _said_by("losetup", "--detach", device)


@contextlib.contextmanager
def slow_reads(number: str) -> Iterator[pathlib.Path]:
    """A control group that may read READ_BYTES_A_SECOND of the disk with this number."""
    settings = {
        1: ("blkio.throttle.read_bps_device", f"{number} {READ_BYTES_A_SECOND}"),
        2: ("io.max", f"{number} rbps={READ_BYTES_A_SECOND}"),
    }
    with group_of("blkio" if _parent_has("blkio") else "io", settings) as group:
        yield group


def _parent_has(controller: str) -> bool:
    try:
        return _parent_of(controller)[0] == 1
    except Missing:
        return False


def _said_by(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise Missing(f"{command[0]} failed: {done.stderr.strip()}")
    return done.stdout.strip()
