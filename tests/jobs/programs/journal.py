"""What a training says of itself, line by line on the disk: the truth that its job is compared with."""
import os
import time


class Journal:
    def __init__(self, path):
        self.file = open(path, "a", encoding="ascii")
        self.write(f"attempt {os.environ['TRAINWARDEN_JOB_ATTEMPT']} {time.time()}")

    def write(self, line):
        self.file.write(line + "\n")
        self.file.flush()
        os.fsync(self.file.fileno())
