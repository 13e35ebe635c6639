"""The same under faulthandler, which prints where; in a second thread a floating point error."""
import ctypes
import faulthandler
import seen

faulthandler.enable()
seen.train(seen.small_net(), 10)
print("now", flush=True)
ctypes.string_at(0)
