"""Podman for tests: its storage, its settings and its image are the test's own, and no registry is asked."""
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys

IMAGE = "localhost/trainwarden-test:1"
PROGRAMS = ("sh", "cat", "sleep", "ls", "id", "touch")
IN_NAMESPACE = "--in-namespace"


def enter_namespace(skipped):
    """As root: this program once more, in a mount namespace of its own with control groups of version 2. Ends with the code
    `skipped` where there can be none."""
    inside = f'mount --make-rprivate / && mount -t cgroup2 none /sys/fs/cgroup || exit {skipped}; exec "$@"'
    os.execvp("unshare", ["unshare", "--mount", "sh", "-c", inside, "sh", sys.executable, "-B", *sys.argv, IN_NAMESPACE])


def podman(*words, check=True, store=None):
    """`store`: the file of a storage other than that of settle_in()."""
    environment = dict(os.environ, CONTAINERS_STORAGE_CONF=str(store)) if store else None
    answer = subprocess.run(["podman", *words], check=False, timeout=120, text=True, stdin=subprocess.DEVNULL,
                            env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if check and answer.returncode != 0:
        raise RuntimeError(f"podman {' '.join(words)}: {answer.stderr}")
    return answer


def libraries_of(program):
    """The files that the loader takes for a program, itself included."""
    text = subprocess.run(["ldd", program], check=False, stdout=subprocess.PIPE, text=True).stdout
    return [pathlib.Path(path) for path in re.findall(r"(/\S+) \(0x", text)]


def archive_of_image(place):
    """This machine's own shell and tools."""
    root = place / "root"
    for name in PROGRAMS:
        program = shutil.which(name)
        for source in (pathlib.Path(program), *libraries_of(program)):
            target = root / ("bin/" + name if source == pathlib.Path(program) else str(source).lstrip("/"))
            target.parent.mkdir(parents=True, exist_ok=True)
            if not target.exists():
                shutil.copy(source, target)
    return shutil.make_archive(str(place / "root"), "tar", root)


def make_store(folder):
    """The file that tells podman of a storage in this folder."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "storage.conf"
    file.write_text(f'[storage]\ndriver = "vfs"\nrunroot = "{folder}/run"\ngraphroot = "{folder}/graph"\n',
                    encoding="utf-8")
    return file


def settle_in(place):
    """Settings of podman that need nothing of this machine's."""
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    processes = min(resource.getrlimit(resource.RLIMIT_NPROC)[1], 4096)
    processes = 4096 if processes < 0 else processes  # no limit
    (place / "containers.conf").write_text(
        f'[containers]\ncgroups = "disabled"\ndefault_ulimits = ["nofile={files}:{files}", "nproc={processes}:{processes}"]\n'
        '[engine]\ncgroup_manager = "cgroupfs"\nevents_logger = "file"\n', encoding="utf-8")
    os.environ["CONTAINERS_STORAGE_CONF"] = str(make_store(place))
    os.environ["CONTAINERS_CONF"] = str(place / "containers.conf")
