"""A child by subprocess trains; its output and its errors are its own."""
import subprocess
import sys
import seen

code = """
import sys, torch, seen
net = seen.small_net()
seen.train(net, 20)
print("child", seen.digest(net))
print("words", file=sys.stderr)
sys.exit(5)
"""
net = seen.small_net()
seen.train(net, 10)
done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
errors = [line for line in done.stderr.splitlines() if not line.startswith("trainwarden:")]
print(done.returncode, done.stdout.strip(), errors)
seen.train(net, 10)
print(seen.digest(net))
