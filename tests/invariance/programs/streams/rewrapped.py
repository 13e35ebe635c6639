"""sys.stdout is detached and wrapped anew with another encoding and buffering."""
import io
import sys
import seen

net = seen.small_net()
seen.train(net, 5)
sys.stdout = io.TextIOWrapper(sys.stdout.detach(), encoding="latin-1", line_buffering=True, newline="\r\n")
seen.train(net, 10, each=lambda step: print("größe", step))
sys.stdout.reconfigure(encoding="utf-8")
print("ä", seen.digest(net))
