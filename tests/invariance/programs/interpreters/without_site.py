"""python -S finds no packages of a virtual environment; torch of the system may be there or not."""
import seen

seen.run_python("-S", "-c", "import sys\nprint('torch' in sys.modules, len(sys.argv), sys.flags.no_site)")
