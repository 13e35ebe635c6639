"""An exception that nobody catches, raised by the program between two steps."""
import seen


def each(step):
    if step == 12:
        raise RuntimeError("at step 12")


seen.train(seen.small_net(), 20, each=each)
