"""An interactive console (code.InteractiveConsole) in which lines are typed one by one."""
import code
import contextlib
import io
import seen

console = code.InteractiveConsole({"seen": seen})
lines = ["import torch", "net = seen.small_net()", "opt = seen.train(net, 10)", "seen.digest(net)", "1 / 0", "nope"]
with contextlib.redirect_stderr(io.StringIO()) as errors, contextlib.redirect_stdout(io.StringIO()) as output:
    for line in lines:
        console.push(line)
print(output.getvalue(), errors.getvalue(), sorted(console.locals))
