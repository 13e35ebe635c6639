"""faulthandler is off unless the program turns it on; its own traceback goes to its own file."""
import faulthandler
import seen

net = seen.small_net()
seen.train(net, 10)
print(faulthandler.is_enabled())
with open("trace.txt", "w+") as file:
    faulthandler.enable(file)
    faulthandler.dump_traceback(file, all_threads=True)
    seen.train(net, 10)
    file.seek(0)
    print([line.split("/")[-1].strip() for line in file if "File" in line], faulthandler.is_enabled())
    faulthandler.disable()
print(seen.digest(net))
