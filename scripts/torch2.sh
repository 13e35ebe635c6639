# shellcheck shell=bash
# PyTorch 2 from PyPI with the trainers of other libraries (scripts/torch2.txt), and the tests on it. Sourced by dev.
#
# It is kept for all trees of this user: some gigabytes are fetched, which takes longer than all else that is installed.
readonly torch2_kept=${XDG_CACHE_HOME:-$HOME/.cache}/trainwarden/torch2
readonly torch2=build/torch2
readonly torch2_log=build/torch2.log
torch2_pid=""

# Made beside its place and moved there, so that one that was broken off is not taken for whole.
install_torch2() {
  local new=$torch2_kept.new-$$
  rm -rf "$new"
  $python -m venv "$new" &&
    "$new/bin/pip" install --disable-pip-version-check --progress-bar off --no-cache-dir -r scripts/torch2.txt &&
    cp scripts/torch2.txt "$new/requirements.txt" && rm -rf "$torch2_kept" && mv "$new" "$torch2_kept"
}

# Fetches it while other stages compile.
begin_torch2() {
  if cmp -s scripts/torch2.txt "$torch2_kept/requirements.txt"; then return; fi
  mkdir -p build "$(dirname "$torch2_kept")"
  say "fetching PyTorch 2 from PyPI, beside what follows (log: $torch2_log)"
  install_torch2 </dev/null >$torch2_log 2>&1 &
  torch2_pid=$!
}

wait_for_torch2() {
  if [[ -z $torch2_pid ]]; then return; fi
  with_progress $torch2_log.wait tail --pid="$torch2_pid" -n 1 -f $torch2_log
  wait "$torch2_pid"
}

# An environment of this tree's own, in which the kept packages are seen, so that trees do not install over each other.
torch2_environment() {
  local kept
  kept=$(echo "$torch2_kept"/lib/python3*/site-packages)
  rm -rf $torch2
  $python -m venv $torch2 &&
    echo "import site; site.addsitedir('$kept')" >"$(echo $torch2/lib/python3*/site-packages)/kept.pth" &&
    $torch2/bin/pip install --quiet --disable-pip-version-check --no-deps build/wheels/*.whl >&2
}

# torch2_tests [PYTEST ARGUMENT...]: the tests of capture from PyTorch on it, or those that are selected.
torch2_tests() {
  local report=$PWD/build/torch2.xml
  if ! wait_for_torch2; then
    tail -n 20 $torch2_log >&2
    fail "PyTorch 2 cannot be installed: nothing is tested on it (see $torch2_log)"
    return
  fi
  if ! torch2_environment; then
    fail "the Python package cannot be installed beside PyTorch 2"
    return
  fi
  say "PyTorch $($torch2/bin/python -c 'import torch; print(torch.__version__)')"
  OMP_NUM_THREADS=1 run_tests "python on PyTorch 2" "$report" $PWD/build/torch2-pytest.log $torch2/bin/python -m pytest \
    -q --rootdir=. -p no:cacheprovider -n "$(nproc)" --dist loadfile adapters/python/tests/torch \
    --junit-xml="$report" "$@"
}
