"""Whoever reads the output goes away; the program ends by its BrokenPipeError."""
import os
import sys
import seen

reads, writes = os.pipe()
os.dup2(writes, 1)
os.close(writes)
os.close(reads)


def each(step):
    print("x" * 1000)


seen.train(seen.small_net(), 40, each=each)
