"""Priority, limits, mask of signals, processors and umask of the process."""
import os
import resource
import signal
import seen

net = seen.small_net()
seen.train(net, 20)
limits = {name: resource.getrlimit(getattr(resource, name)) for name in dir(resource) if name.startswith("RLIMIT_")}
mask = os.umask(0)
print(limits, oct(mask), os.nice(0), len(os.sched_getaffinity(0)))
print(signal.pthread_sigmask(signal.SIG_BLOCK, []), open("/proc/self/oom_score_adj").read().strip(), seen.digest(net))
with open("/proc/self/status") as status:
    wanted = ("SigBlk", "SigIgn", "SigCgt", "NoNewPrivs", "Seccomp", "CapEff", "Umask")
    print([line.split() for line in status if line.split(":")[0] in wanted])
