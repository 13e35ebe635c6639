"""SIGTERM with its default handler."""
import os
import signal
import seen


def each(step):
    if step == 12:
        os.kill(os.getpid(), signal.SIGTERM)


seen.train(seen.small_net(), 20, each=each)
print("not reached")
