# shellcheck shell=bash
# The Python of the rivals and foreign readers (scripts/rivals.txt). Sourced by dev.
readonly rivals=build/rivals

# Makes it, or makes it anew when its list has changed, and names its Python to tests and benchmarks.
rivals_environment() {
  need_packages python
  if ! cmp -s scripts/rivals.txt $rivals/requirements.txt; then
    rm -rf $rivals
    $python -m venv --system-site-packages $rivals
    $rivals/bin/pip install --quiet --disable-pip-version-check -r scripts/rivals.txt >&2
    cp scripts/rivals.txt $rivals/requirements.txt
  fi
  export TRAINWARDEN_RIVALS_PYTHON=$PWD/$rivals/bin/python
}
