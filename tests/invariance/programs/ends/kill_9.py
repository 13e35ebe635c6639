"""SIGKILL in the middle of a step."""
import os
import seen


def each(step):
    if step == 12:
        print("now", flush=True)
        os.kill(os.getpid(), 9)


seen.train(seen.small_net(), 20, each=each)
