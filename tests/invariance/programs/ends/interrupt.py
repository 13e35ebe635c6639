"""KeyboardInterrupt that nobody catches: Python ends itself by SIGINT."""
import os
import signal
import seen


def each(step):
    if step == 12:
        os.kill(os.getpid(), signal.SIGINT)


seen.train(seen.small_net(), 100, each=each)
