"""A trial of a study: steps with a loss, each in the journal of its job and then in its checkpoint.

usage: trial.py FOLDER SECONDS STEPS AT_ONCE --quality Q

The loss at step n is Q + 1 / (100 n). With AT_ONCE above 1 it begins only when so many trials have come as far, and fails when
they do not within a minute: that all end shows that so many ran at once.
"""
import os
import pathlib
import sys
import time

from journal import Journal

folder, seconds, steps, at_once = pathlib.Path(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
quality = float(sys.argv[sys.argv.index("--quality") + 1])
name = os.environ["TRAINWARDEN_JOB"]
journal = Journal(folder / f"{name}.journal")
journal.write(f"cpus {' '.join(map(str, sorted(os.sched_getaffinity(0))))}")
(folder / f"{name}.here").touch()
deadline = time.monotonic() + 60
while len(list(folder.glob("*.here"))) < at_once:
    if time.monotonic() > deadline:
        sys.exit(f"only {len(list(folder.glob('*.here')))} trials run at once")
    time.sleep(0.05)
path = os.path.join(os.environ["TRAINWARDEN_CHECKPOINT_DIR"], "step")
done = 0
if os.path.exists(path):
    with open(path, encoding="ascii") as file:
        done = int(file.read())
journal.write(f"from {done}")
for step in range(done + 1, steps + 1):
    time.sleep(seconds)
    journal.write(f"step {step} {time.time()}")
    with open(path + ".new", "w", encoding="ascii") as file:
        file.write(str(step))
        file.flush()
        os.fsync(file.fileno())
    os.replace(path + ".new", path)
    print(f"step {step} loss: {quality + 1 / (100 * step)}", flush=True)
journal.write("end")
