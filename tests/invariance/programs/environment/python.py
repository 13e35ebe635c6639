"""sys.path, argv, flags, options, prefixes and hooks of Python."""
import sys
import site
import seen

net = seen.small_net()
seen.train(net, 10)
print(sys.path, sys.argv, sys.orig_argv[1:], sys.flags, sys.warnoptions, sys._xoptions)
print(sys.executable, sys.prefix, sys.dont_write_bytecode, sys.getswitchinterval(), sys.getrecursionlimit())
print(sys.path_hooks, sorted(name for name in vars(sys) if not name.startswith("_")), sys.getdefaultencoding())
print(sys.excepthook, sys.unraisablehook, sys.displayhook, sys.breakpointhook, sys.gettrace(), sys.getprofile())
print(sys.getallocatedblocks() > 0, sys.get_asyncgen_hooks(), sys.get_coroutine_origin_tracking_depth())
