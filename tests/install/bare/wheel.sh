#!/usr/bin/env bash
# wheel.sh [PYTHON [FOLDER...]]: that Python's wheels of the folders, in an environment of their own, without a network.
# On a bare system, which has NumPy, they are those of /opt/dist.
set -euo pipefail
bare=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
python=${1:-python3}
found=()
for folder in "${@:2}"; do found+=(--find-links "$folder"); done
if ((${#found[@]} == 0)); then found=(--find-links /opt/dist); fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

"$python" -m venv --system-site-packages environment
environment/bin/pip install --quiet --disable-pip-version-check --no-index "${found[@]}" trainwarden trainwarden-smdebug
export PATH=$PWD/environment/bin:$PATH
python "$bare/train.py"
(mkdir attached && cd attached && python -m trainwarden "$bare/train.py")
python -c 'import smdebug.trials, sys, trainwarden; print(sys.version, trainwarden.__file__)'
# shellcheck source=tests/install/bare/see.sh
source "$bare/see.sh"

# What they load of the system: the C library and what belongs to it.
core=$(python -c 'import trainwarden._core as core; print(core.__file__)')
loaded=$(ldd "$core" "$(command -v trainwarden)")
strange=$(awk '/^\t/ {print $1}' <<<"$loaded" | grep -v -E '^(linux-vdso|libc|libm|libgcc_s|/lib.*/ld-linux)' || true)
if [[ -n $strange ]]; then
  echo "expected that the wheel loads the C library and libgcc_s only; found $strange" >&2
  exit 1
fi
