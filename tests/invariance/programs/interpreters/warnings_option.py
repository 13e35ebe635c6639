"""python -W error, and -W error::ResourceWarning -X dev: warnings of whoever is there end the program."""
import seen

seen.run_python("-W", "error", "-c", seen.TRAINS)
seen.run_python("-X", "dev", "-W", "ignore::DeprecationWarning:torch", "-c", seen.TRAINS)
