# shellcheck shell=bash
# PyTorch 2 from PyPI, and the tests on it. Sourced by dev.
#
# Each of scripts/torch2 is a set of packages: the newest PyTorch with the trainers of other libraries, the oldest that is
# supported, and one between. They are kept for all trees of this user: some gigabytes are fetched, which takes longer
# than all else that is installed.
readonly torch2_kept=${XDG_CACHE_HOME:-$HOME/.cache}/trainwarden/torch2
readonly torch2=build/torch2
declare -A torch2_pids=()

# install_torch2 SET: made beside its place and moved there, so that one that was broken off is not taken for whole.
install_torch2() {
  local set=scripts/torch2/$1.txt kept=$torch2_kept/$1
  local new=$kept.new-$$
  rm -rf "$new"
  $python -m venv "$new" &&
    "$new/bin/pip" install --disable-pip-version-check --progress-bar off --no-cache-dir -r "$set" &&
    cp "$set" "$new/requirements.txt" && rm -rf "$kept" && mv "$new" "$kept"
}

# begin_torch2 SET: fetches it while other stages compile.
begin_torch2() {
  local log=$torch2-$1.log
  if [[ -n ${torch2_pids[$1]:-} ]] || cmp -s "scripts/torch2/$1.txt" "$torch2_kept/$1/requirements.txt"; then return; fi
  mkdir -p build "$torch2_kept"
  say "fetching PyTorch 2, $1, from PyPI, beside what follows (log: $log)"
  rm -f "$torch2-$1.status"
  if install_torch2 "$1" >"$log" 2>&1; then echo 0; else echo 1; fi </dev/null >"$torch2-$1.status" &
  torch2_pids[$1]=$!
}

# By a file: `wait` forgets what a process ended with when another one has got its number meanwhile.
wait_for_torch2() {
  local pid=${torch2_pids[$1]:-} log=$torch2-$1.log status=$torch2-$1.status begin=$SECONDS
  if [[ -z $pid ]]; then return; fi
  until [[ -s $status ]] || ! kill -0 "$pid" 2>/dev/null; do
    sleep "$progress_seconds"
    say "  $((SECONDS - begin)) s: $(last_words "$log")"
  done
  [[ $(cat "$status") == 0 ]]
}

# torch2_environment SET: one of this tree's own, in which the kept packages are seen, so that trees do not install over
# each other.
torch2_environment() {
  local kept folder=$torch2/$1
  kept=$(echo "$torch2_kept/$1"/lib/python3*/site-packages)
  rm -rf "$folder"
  $python -m venv "$folder" &&
    echo "import site; site.addsitedir('$kept')" >"$(echo "$folder"/lib/python3*/site-packages)/kept.pth" &&
    "$folder/bin/pip" install --quiet --disable-pip-version-check --no-deps build/wheels/*.whl >&2
}

# torch2_tests SET [PYTEST ARGUMENT...]: the tests of capture from PyTorch on it, or those that are selected.
torch2_tests() {
  local set=$1 interpreter=$torch2/$1/bin/python log=$PWD/$torch2-$1-pytest
  shift
  begin_torch2 "$set"
  if ! wait_for_torch2 "$set"; then
    tail -n 20 "$torch2-$set.log" >&2
    fail "PyTorch 2, $set, cannot be installed: nothing is tested on it (see $torch2-$set.log)"
    return
  fi
  if ! torch2_environment "$set"; then
    fail "the Python package cannot be installed beside PyTorch 2, $set"
    return
  fi
  say "PyTorch $("$interpreter" -c 'import torch; print(torch.__version__)')"
  OMP_NUM_THREADS=1 run_tests "python on PyTorch 2, $set" "$log.xml" "$log.log" "$interpreter" -m pytest \
    -q --rootdir=. -p no:cacheprovider -n "$(nproc)" --dist loadfile adapters/python/tests/torch --junit-xml="$log.xml" "$@"
}
