"""sys.stdout is a StringIO, a tee, and a redirect in turn; what is printed lands where the program says."""
import contextlib
import io
import sys
import seen


class Tee:
    def __init__(self, *streams):
        self.streams, self.writes = streams, 0

    def write(self, text):
        self.writes += 1
        for each in self.streams:
            each.write(text)

    def flush(self):
        pass

    def __getattr__(self, name):
        raise AttributeError("a tee has no " + name)


net = seen.small_net()
real = sys.stdout
sys.stdout = Tee(real, io.StringIO())
seen.train(net, 10, each=lambda step: print("loss at", step))
tee, sys.stdout = sys.stdout, io.StringIO()
seen.train(net, 10, each=lambda step: print("epoch %d: loss: 0.5" % step))
text, sys.stdout = sys.stdout.getvalue(), real
with contextlib.redirect_stdout(io.StringIO()) as inner, contextlib.redirect_stderr(io.StringIO()) as errors:
    seen.train(net, 10, each=lambda step: print("x", step))
print(tee.writes, len(text), len(inner.getvalue()), repr(errors.getvalue()), seen.digest(net))
