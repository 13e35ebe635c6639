"""sys.stderr is an object that raises whatever is done with it, and counts."""
import sys
import seen


class Raises:
    asked = []

    def __getattr__(self, name):
        Raises.asked.append(name)
        raise RuntimeError("no standard error")


sys.stderr = Raises()
net = seen.small_net()
seen.train(net, 30)
print(Raises.asked, seen.digest(net))
sys.stderr = sys.__stderr__
