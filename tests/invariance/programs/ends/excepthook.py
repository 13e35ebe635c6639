"""A program's own sys.excepthook and unraisablehook get the exceptions, with their tracebacks."""
import sys
import traceback
import seen

got = []
sys.unraisablehook = lambda args: print("unraisable", type(args.exc_value).__name__, args.exc_value)


def hook(kind, error, entries):
    print(kind.__name__, error, [each.name for each in traceback.extract_tb(entries)], flush=True)


sys.excepthook = hook


class Bad:
    def __del__(self):
        raise ValueError("in __del__")


net = seen.small_net()
Bad()
seen.train(net, 20)
print(sys.excepthook is hook, seen.digest(net))
raise LookupError("the end")
