"""os._exit in the middle of a step, with output that is not flushed."""
import os
import sys
import seen


def each(step):
    if step == 12:
        sys.stdout.write("not flushed")
        os._exit(44)


print("flushed", flush=True)
seen.train(seen.small_net(), 20, each=each)
