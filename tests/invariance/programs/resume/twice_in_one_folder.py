"""The same program is run twice in one folder, as people do; the second finds the files of the first alone."""
import os
import subprocess
import sys
import seen

if len(sys.argv) == 1:
    for _ in range(2):
        done = subprocess.run([sys.executable, __file__, "train"], capture_output=True, text=True)
        print(done.returncode, done.stdout.strip())
    sys.exit()
net = seen.small_net()
before = sorted(os.listdir())
seen.train(net, 20)
open(f"result{len(before)}", "w").close()
print(before, sorted(os.listdir()), seen.digest(net))
