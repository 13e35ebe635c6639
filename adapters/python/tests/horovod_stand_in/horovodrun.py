"""usage: horovodrun.py -np N COMMAND...: starts N of them with the variables that horovodrun gives them."""

import os
import subprocess
import sys
import tempfile

count, command = int(sys.argv[2]), sys.argv[3:]
with tempfile.TemporaryDirectory() as folder:
    processes = []
    for rank in range(count):
        place = {"RANK": rank, "SIZE": count, "LOCAL_RANK": rank, "LOCAL_SIZE": count, "CROSS_RANK": 0, "CROSS_SIZE": 1}
        environment = {f"HOROVOD_{name}": str(value) for name, value in place.items()}
        environment["HOROVOD_STAND_IN_FOLDER"] = folder
        processes.append(subprocess.Popen(command, env={**os.environ, **environment}))
    codes = [process.wait() for process in processes]
sys.exit(next((code for code in codes if code != 0), 0))
