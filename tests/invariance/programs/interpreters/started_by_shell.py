"""A shell script of three trainings, the second of which fails (wandb#2877, Lightning#5212); its exit code."""
import subprocess
import sys
import seen

with open("train.py", "w") as file:
    file.write(seen.TRAINS + "sys.exit(int(sys.argv[1]))\n")
script = f'for code in 0 4 0; do {sys.executable} train.py $code; echo "ended $?"; done; exit 3'
done = subprocess.run(["sh", "-c", script], capture_output=True, text=True)
print(done.returncode, done.stdout, [line for line in done.stderr.splitlines() if not line.startswith("trainwarden:")])
