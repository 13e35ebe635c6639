"""python -O and -OO: no assertions, no docstrings."""
import seen

seen.run_python("-O", "-c", seen.TRAINS)
seen.run_python("-OO", "-c", seen.TRAINS + "print(sys.flags.optimize, seen.__doc__)\n")
