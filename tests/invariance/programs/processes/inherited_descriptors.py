"""A child that inherits all descriptors (close_fds=False) counts them."""
import subprocess
import sys
import seen

net = seen.small_net()
seen.train(net, 20)
code = "import os; print(sorted(int(f) for f in os.listdir('/proc/self/fd'))[:-1])"
done = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, close_fds=False)
print(done.stdout.strip(), seen.digest(net))
