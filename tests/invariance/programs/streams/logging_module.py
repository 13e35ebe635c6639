"""logging: the root's handlers and level, the names of loggers, and what reaches a handler of the root."""
import logging
import seen

records = []


class Keeps(logging.Handler):
    def emit(self, record):
        records.append((record.name, record.levelname))


print(logging.root.handlers, logging.root.level, logging.root.manager.disable)
logging.basicConfig(level=logging.DEBUG, handlers=[Keeps()])
net = seen.small_net()
seen.train(net, 20)
logging.info("mine")
names = sorted(name for name in logging.root.manager.loggerDict if not name.startswith(("torch", "numpy")))
print(records, names, logging.getLoggerClass().__name__, logging.getLogRecordFactory().__name__, seen.digest(net))
