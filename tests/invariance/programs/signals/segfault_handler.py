"""The program's own handler of SIGSEGV and SIGFPE (by faulthandler.register) and chains of handlers stay."""
import faulthandler
import os
import signal
import seen

with open("trace.txt", "w+") as file:
    faulthandler.register(signal.SIGUSR1, file, all_threads=False, chain=False)
    net = seen.small_net()
    seen.train(net, 20)
    os.kill(os.getpid(), signal.SIGUSR1)
    file.seek(0)
    print(len(file.readlines()) > 1, faulthandler.unregister(signal.SIGUSR1), seen.digest(net))
