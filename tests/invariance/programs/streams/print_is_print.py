"""print, sys.stdout.write and the streams themselves are Python's own objects."""
import builtins
import sys
import seen

before = builtins.print, sys.stdout, sys.stdout.buffer, sys.stdin, sys.stderr, sys.displayhook
net = seen.small_net()
seen.train(net, 10, each=lambda step: print("step", step))
after = builtins.print, sys.stdout, sys.stdout.buffer, sys.stdin, sys.stderr, sys.displayhook
print([one is other for one, other in zip(before, after)], type(print).__name__, print.__module__)
write = sys.stdout.write
print(type(sys.stdout).__name__, write.__qualname__, type(write).__name__, sorted(vars(sys.stdout)))
print(sys.stdout is sys.__stdout__, sys.stdout.line_buffering, sys.stdout.encoding, sys.stdout.errors, sys.stdout.name)
