# shellcheck shell=bash
# Frameworks from PyPI, and the tests on them. Sourced by dev.
#
# A SET is a list of packages: scripts/SET.txt. Each of scripts/torch2 has a PyTorch, the newest with the trainers of other
# libraries, the oldest that is supported, and one between; each of scripts/frameworks has other frameworks. They are kept
# for all trees of this user: some gigabytes are fetched, which takes longer than all else that is installed.
readonly environments_kept=${XDG_CACHE_HOME:-$HOME/.cache}/trainwarden
declare -A environment_pids=()

log_of_environment() {
  echo "build/environment-${1//\//-}"
}

# install_environment SET: made beside its place and moved there, so that one that was broken off is not taken for whole.
install_environment() {
  local set=scripts/$1.txt kept=$environments_kept/$1
  local new=$kept.new-$$
  rm -rf "$new"
  $python -m venv "$new" &&
    "$new/bin/pip" install --disable-pip-version-check --progress-bar off --no-cache-dir -r "$set" &&
    install_sources "$new" "${set%.txt}-sources.txt" &&
    cp "$set" "$new/requirements.txt" && rm -rf "$kept" && mv "$new" "$kept"
}

# install_sources ENVIRONMENT FILE: what has no wheel, built with what is there already.
install_sources() {
  if [[ ! -e $2 ]]; then return; fi
  "$1/bin/pip" install --disable-pip-version-check --progress-bar off --no-cache-dir --no-build-isolation --no-deps -r "$2"
}

# begin_environment SET: fetches it while other stages compile.
begin_environment() {
  local log
  log=$(log_of_environment "$1")
  if [[ -n ${environment_pids[$1]:-} ]] || cmp -s "scripts/$1.txt" "$environments_kept/$1/requirements.txt"; then return; fi
  mkdir -p build "$(dirname "$environments_kept/$1")"
  say "fetching $1 from PyPI, beside what follows (log: $log.log)"
  rm -f "$log.status"
  environment_pids[$1]=$(beside "$log.log" keep_status "$log.status" install_environment "$1")
}

# keep_status FILE COMMAND...: leaves in FILE what it ended with.
keep_status() {
  local status=0
  "${@:2}" || status=$?
  echo $status >"$1"
}

# By a file: `wait` forgets what a process ended with when another one has got its number meanwhile.
wait_for_environment() {
  local pid=${environment_pids[$1]:-} log begin=$SECONDS
  log=$(log_of_environment "$1")
  if [[ -z $pid ]]; then return; fi
  until [[ -s $log.status ]] || ! kill -0 "$pid" 2>/dev/null; do
    sleep "$progress_seconds"
    say "  $((SECONDS - begin)) s: $(last_words "$log.log")"
  done
  [[ $(cat "$log.status") == 0 ]]
}

# tree_environment SET: one of this tree's own, build/SET, in which the kept packages are seen, so that trees do not
# install over each other.
tree_environment() {
  local kept folder=build/$1
  kept=$(echo "$environments_kept/$1"/lib/python3*/site-packages)
  rm -rf "$folder"
  mkdir -p "$(dirname "$folder")"
  $python -m venv "$folder" &&
    echo "import site; site.addsitedir('$kept')" >"$(echo "$folder"/lib/python3*/site-packages)/kept.pth" &&
    "$folder/bin/pip" install --quiet --disable-pip-version-check --no-deps build/wheels/*.whl >&2
}

# ready_environment SET: fetched, and with this tree's packages in it.
ready_environment() {
  local log
  log=$(log_of_environment "$1")
  begin_environment "$1"
  if ! wait_for_environment "$1"; then
    tail -n 20 "$log.log" >&2
    fail "$1 cannot be installed: nothing is tested on it (see $log.log)"
    return 1
  fi
  if ! tree_environment "$1"; then
    fail "the Python package cannot be installed beside $1"
    return 1
  fi
}

# environment_tests SET NAME FOLDER... -- [PYTEST ARGUMENT...]: with what is in the environment, and nothing else.
environment_tests() {
  local set=$1 name=$2 log=$PWD/build/pytest-${2//[^a-z0-9]/-} folders=()
  local plan=$log.json
  shift 2
  while [[ $1 != -- ]]; do
    folders+=("$1")
    shift
  done
  shift
  plan_tests "$name" python "$plan" "$PWD/build/$set/bin/python" "${KERAS_BACKEND:-} $*" "${folders[@]}" || return 0
  OMP_NUM_THREADS=1 run_tests "$name" "$log.xml" "$log.log" "build/$set/bin/python" -m pytest \
    -q --rootdir=. -p no:cacheprovider -n "$(nproc)" --junit-xml="$log.xml" "${chosen[@]}" "$@"
}

# torch2_tests SET [PYTEST ARGUMENT...]: the tests of capture from PyTorch on it, or those that are selected.
torch2_tests() {
  local set=torch2/$1
  shift
  ready_environment "$set" || return 0
  say "PyTorch $("build/$set/bin/python" -c 'import torch; print(torch.__version__)')"
  environment_tests "$set" "python on PyTorch 2, ${set#*/}" adapters/python/tests/torch -- --dist loadfile "$@"
}

# What each adapter must do, for PyTorch.
torch2_conformance() {
  ready_environment torch2/newest || return 0
  environment_tests torch2/newest "python on PyTorch 2, conformance" adapters/python/tests/conformance -- -k "torch and not keras"
}

# Beyond what each adapter must do.
boosting_tests() {
  environment_tests ../$venv "python on LightGBM, XGBoost and scikit-learn" adapters/python/tests/{lightgbm,sklearn,xgboost} -- \
    --dist loadfile
}

# how_to_share PART: among workers of pytest: `conformance` is one file, and files of all tests run their programs once.
how_to_share() {
  if [[ $1 == all ]]; then echo loadfile; else echo load; fi
}

# framework_folders PART FOLDER...: where the tests are, of `conformance` (what each adapter must do) or of all.
framework_folders() {
  local part=$1
  shift
  if [[ $part == all ]]; then echo "$@"; fi
  echo adapters/python/tests/conformance
}

# frameworks_tests PART: Keras on its backends, and JAX.
frameworks_tests() {
  local part=$1 set=frameworks/new tests=adapters/python/tests keras jax
  ready_environment "$set" || return 0
  keras=$(framework_folders "$part" $tests/keras)
  jax=$(framework_folders "$part" $tests/jax)
  # Sessions of TensorFlow are at home in 2.15: here they are tested with all.
  KERAS_BACKEND=tensorflow environment_tests "$set" "python on Keras, TensorFlow" $keras -- --dist "$(how_to_share "$part")" \
    -k "keras or tensorflow$([[ $part == all ]] || echo ' and not tensorflow_')"
  KERAS_BACKEND=jax environment_tests "$set" "python on Keras, JAX" $keras -- -k keras
  if "build/$set/bin/python" -c "import torch" 2>/dev/null; then
    KERAS_BACKEND=torch environment_tests "$set" "python on Keras, PyTorch" $keras -- -k keras
  else
    say "Keras on PyTorch is not tested: $set has no PyTorch"
  fi
  environment_tests "$set" "python on JAX" $jax -- -k "jax and not keras"
}

# What is no longer developed, and has programs.
old_frameworks_tests() {
  local set=frameworks/old tests=adapters/python/tests hooks=adapters/smdebug/tests/hook cells=adapters/sagemaker/tests
  local conformance=adapters/python/tests/conformance
  ready_environment "$set" || return 0
  environment_tests "$set" "python on MXNet" $tests/mxnet $hooks/test_mxnet_hook.py $cells/test_gluon_seed_cells.py \
    adapters/smdebug/tests/analysis/test_gluon_seed_cells.py $conformance -- --dist loadfile -k "mxnet or gluon"
  environment_tests "$set" "python on sessions of TensorFlow" $tests/tf_sessions $hooks/test_session_hook.py \
    $cells/test_estimator_seed_cells.py $conformance -- --dist loadfile -k "tf_sessions or tensorflow_ or session_hook or estimator"
  environment_tests "$set" "python on Keras 2" $tests/keras $hooks/test_keras_hook.py $conformance -- --dist loadfile \
    -k "keras or (tensorflow and not tensorflow_)"
  environment_tests "$set" "python on DistilBERT" $cells/test_classifier_seed_cells.py $cells/test_seed_notebooks.py -- \
    -k "classifier or notebooks"
}
