#!/usr/bin/env python3
"""The image that packaging/Containerfile makes, with the real podman: it is built, and a job trains in it.

usage: containerfile_trial.py --trainwarden PROGRAM --packages FOLDER

FOLDER has what `./dev wheel` makes. What the image begins with is made of Debian's packages here, so that no registry is
asked. Storage and settings of podman are the test's own. Exits 77, which counts as skipped, where podman is not
installed.
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from own_podman import IN_NAMESPACE, enter_namespace, podman, settle_in

SKIPPED = 77
ROOT = pathlib.Path(__file__).resolve().parents[2]
BASE = "docker.io/library/debian:12-slim"
IMAGE = "localhost/trainwarden:12"
STEPS = 60
TRAINING = f"""
import os

import numpy
import trainwarden

hook = trainwarden.Hook(os.environ["TRAINWARDEN_RUN_DIR"])
weights = numpy.ones(8)
for _ in range({STEPS}):
    hook.save_scalar("loss", float(numpy.sum(weights**2)))
    hook.save_tensor("weights", weights)
    weights = -2 * weights
    hook.step()
hook.close()
"""


def run(*words, **more):
    subprocess.run([str(word) for word in words], check=True, stdin=subprocess.DEVNULL, **more)


def make_base(place):
    archive = place / "base.tar"
    run("mmdebstrap", "--quiet", "--variant=minbase", "--include=ca-certificates", "bookworm", archive)
    podman("import", str(archive), BASE)
    archive.unlink()


def build_image(packages):
    run("podman", "build", "--quiet", "--pull=never", "--isolation=chroot", "--network=host", "-t", IMAGE, "-f",
        ROOT / "packaging/Containerfile", packages, timeout=1200)


def train_in_it(trainwarden, place):
    """A job that trains in NumPy, with a rule that sees that it diverges."""
    folder = place / "work"
    (folder / "src").mkdir(parents=True)
    (folder / "src/train.py").write_text(TRAINING, encoding="utf-8")
    (folder / "job.toml").write_text(
        f'name = "inside"\nimage = "{IMAGE}"\nentry_point = "train.py"\nsource_dir = "src"\n'
        'rules = ["value(loss) > 1000"]\n', encoding="utf-8")
    environment = dict(os.environ, TRAINWARDEN_JOBS=str(folder / "jobs"), TRAINWARDEN_RUNS=str(folder / "runs"))

    def ask(*words):
        done = subprocess.run([trainwarden, *words], check=False, cwd=folder, env=environment, timeout=300, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        assert done.returncode == 0, done.stdout
        return done.stdout

    ask("submit", "job.toml", "--wait")
    job = json.loads(ask("job", "describe", "inside", "--json"))
    assert job["secondary_status"] == "Completed", job
    assert job["container"]["image"] == IMAGE, job["container"]
    run_shown = json.loads(ask("show", "inside", "--json"))
    assert run_shown["last_complete_step"] == STEPS - 1, run_shown
    assert [rule["status"] for rule in job["rules"]] == ["IssuesFound"], job["rules"]


def inside_namespace(arguments):
    with tempfile.TemporaryDirectory(prefix="trainwarden-image-") as name:
        place = pathlib.Path(name)
        settle_in(place)
        try:
            make_base(place)
            build_image(arguments.packages)
            train_in_it(arguments.trainwarden, place)
        finally:
            podman("system", "reset", "--force", check=False)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--trainwarden", required=True)
    parser.add_argument("--packages", required=True, type=pathlib.Path)
    parser.add_argument(IN_NAMESPACE, action="store_true")
    arguments = parser.parse_args()
    if shutil.which("podman") is None:
        print("podman is not installed")
        sys.exit(SKIPPED)
    if os.getuid() == 0 and not arguments.in_namespace:
        enter_namespace(SKIPPED)
    inside_namespace(arguments)
    print("the image is built, and a job has trained in it")


if __name__ == "__main__":
    main()
