"""sys.meta_path before and after the import of torch: the types of its finders."""
import sys

before = [getattr(each, "__name__", type(each).__name__) for each in sys.meta_path]
import seen

net = seen.small_net()
seen.train(net, 5)
print(before, [getattr(each, "__name__", type(each).__name__) for each in sys.meta_path])
