"""__main__: its attributes, its spec, its loader and its file; __builtins__ has nothing new."""
import builtins
import sys
import seen

net = seen.small_net()
seen.train(net, 10)
main = sys.modules["__main__"]
print(sorted(vars(main)), main.__spec__, type(main.__loader__).__name__, main.__package__, main.__file__ == sys.argv[0])
print(len(dir(builtins)), __import__.__name__, builtins.__import__ is __import__, type(__import__).__name__)
print(open.__module__, exec, compile, input, breakpoint)
