"""nice, ionice-like and taskset-like settings of a child, its limits, and a child that is stopped and continued."""
import os
import signal
import subprocess
import sys
import seen

code = seen.TRAINS + "print(os.nice(0), len(os.sched_getaffinity(0)))\n"


def prepare():
    os.nice(3)
    os.sched_setaffinity(0, {sorted(os.sched_getaffinity(0))[0]})


child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, preexec_fn=prepare)
os.kill(child.pid, signal.SIGSTOP)
os.waitpid(child.pid, os.WUNTRACED)
os.kill(child.pid, signal.SIGCONT)
print(child.communicate()[0], child.returncode)
