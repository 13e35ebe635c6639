"""A program that comes through standard input, and one that reads its data there."""
import seen

seen.run_python("-", text=seen.TRAINS)
seen.run_python("-c", seen.TRAINS + "print(sys.stdin.read().upper())", text="some data")
