"""Which signals the process has handlers for, as the kernel sees it."""
import seen

net = seen.small_net()


def masks():
    with open("/proc/self/status") as status:
        return [line.split() for line in status if line.startswith("Sig")]


print(masks())
seen.train(net, 20)
print(masks(), seen.digest(net))
