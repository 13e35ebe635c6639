"""sys.exit with a text."""
import sys
import seen

seen.train(seen.small_net(), 10)
sys.exit("it went wrong")
