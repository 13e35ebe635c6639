"""A training that does nothing but what a job's does: steps, each on the disk before the next one begins, and a checkpoint.

usage: train.py JOURNAL SECONDS STEPS
"""
import os
import sys
import time

from journal import Journal

journal = Journal(sys.argv[1])
path = os.path.join(os.environ["TRAINWARDEN_CHECKPOINT_DIR"], "step")
first = 0
if os.path.exists(path):
    with open(path, encoding="ascii") as file:
        first = int(file.read())
for step in range(first, int(sys.argv[3])):
    time.sleep(float(sys.argv[2]))
    journal.write(f"step {step}")
    with open(path + ".new", "w", encoding="ascii") as file:
        file.write(str(step + 1))
        file.flush()
        os.fsync(file.fileno())
    os.replace(path + ".new", path)
journal.write("end")
