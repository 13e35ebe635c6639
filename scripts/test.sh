# shellcheck shell=bash
# What must hold before a change is taken in. Sourced by dev.
#
# Each stage adds to `passed` and `failed` and names what failed, so that a failing stage does not hide the next one.

readonly python=/usr/bin/python3 # the distribution's, which has NumPy; another may stand first on PATH
passed=0
failed=0
failures=()
stage_times=() # "SECONDS NAME"

# check NAME COMMAND...: one check. Its output is shown only when it fails.
check() {
  local name=$1 output
  shift
  if output=$("$@" 2>&1); then
    passed=$((passed + 1))
    say "passed: $name"
  else
    printf '%s\n' "$output" >&2
    fail "$name"
  fi
}

# fail WHAT: one failure.
fail() {
  failed=$((failed + 1))
  failures+=("$1")
  say "FAILED: $1"
}

# stage NAME COMMAND...: says how long it took.
stage() {
  local name=$1 begin=$SECONDS
  shift
  say "---- $name"
  "$@"
  stage_times+=("$((SECONDS - begin)) $name")
  say "---- $name took $((SECONDS - begin)) s"
}

# Names the files that are not formatted.
check_format() {
  local unformatted
  unformatted=$(source_files | xargs clang-format-14 --dry-run 2>&1 |
    sed -n 's/^\([^ :]*\):.*clang-format-violations.*/\1/p' | sort -u)
  printf '%s' "$unformatted"
  [[ -z $unformatted ]]
}

source_checks() {
  check "includes keep to the floors" $python scripts/check_floors.py
  check "the document has the table of floors" $python scripts/floors.py
  check "imports of the page keep to its floors" $python scripts/check_page_floors.py
  check "no floor reaches for a disk by itself" $python scripts/check_disk.py
  check "every test is registered" $python scripts/check_tests_registered.py
  check "public headers compile alone" $python scripts/check_headers.py
  check "the command line prints through one place" $python scripts/check_output.py
  check "environment variables are named in one place" $python scripts/check_environment_names.py
  check "links of the documents lead somewhere" $python scripts/check_links.py
  check "folders have pages that name what is there" $python scripts/check_folder_pages.py
  check "walks through the code name what is there" $python scripts/check_walks.py
  check "sources are formatted (./dev format)" check_format
}

# count_of ATTRIBUTE FILE: of the first element of a JUnit file; 0 when it has no such attribute.
count_of() {
  local count
  count=$(grep -o -m 1 "$1=\"[0-9]*\"" "$2" | head -n 1 | tr -dc '0-9') || true
  echo "${count:-0}"
}

# add_report NAME JUNIT_FILE LOG: adds up what a test runner said.
add_report() {
  local name=$1 report=$2 log=$3 tests bad skipped
  if [[ ! -s $report || $(count_of tests "$report") == 0 ]]; then
    tail -n 30 "$log" >&2
    fail "$name: ran no tests"
    return
  fi
  tests=$(count_of tests "$report")
  bad=$(($(count_of failures "$report") + $(count_of errors "$report")))
  skipped=$(count_of skipped "$report")
  passed=$((passed + tests - bad - skipped))
  if ((bad > 0)); then
    tail -n 100 "$log" >&2
    failed=$((failed + bad))
    failures+=("$name: $bad tests, see $log")
  fi
  say "$name: $tests tests, $bad failed, $skipped skipped"
}

# ctest_stage PRESET [CTEST ARGUMENT...]: runs tests that are built and adds up what they say.
ctest_stage() {
  local preset=$1 log=$PWD/build/$1/ctest.log report=$PWD/build/$1/ctest.xml
  shift
  rm -f "$report"
  "${wrap[@]}" ctest --test-dir "build/$preset" -j "$(nproc)" --output-on-failure --output-junit "$report" "$@" \
    </dev/null >"$log" 2>&1 || true
  if [[ ! -s $report || $(count_of tests "$report") == 0 ]]; then
    tail -n 20 "$log" >&2
    fail "$preset: ctest ran no tests"
    return
  fi
  local tests bad skipped
  tests=$(count_of tests "$report")
  bad=$(count_of failures "$report")
  skipped=$(($(count_of skipped "$report") + $(count_of disabled "$report")))
  passed=$((passed + tests - bad - skipped))
  if ((bad > 0)); then
    grep -v -E ' Passed +[0-9.]+ sec$|^ +Start +[0-9]+: ' "$log" >&2
    failed=$((failed + bad))
    failures+=("$preset: $bad tests, see build/$preset/ctest.log")
  fi
  say "$preset: $tests tests, $bad failed, $skipped skipped"
}

# try_build PRESET [TARGET...]: a build that fails is one failure.
try_build() {
  build "$@" >&2 && return
  fail "$1: does not build"
  return 1
}

release_tests() {
  if try_build release; then ctest_stage release; fi
}

# Trainings with the fault of each rule, and healthy ones.
rules_table() {
  OMP_NUM_THREADS=1 $venv/bin/python scripts/rules_table.py --cli build/release/bin/trainwarden \
    --python "$venv/bin/python" "$@"
}

rules_table_test() {
  check "each rule finds its fault, and nothing in healthy trainings (./dev rules-table)" rules_table
}

asan_tests() {
  if try_build asan; then UBSAN_OPTIONS=print_stacktrace=1 ctest_stage asan; fi
}

# Those that go through the compiled core within one process; what starts programs takes minutes under a sanitizer.
readonly core_tests=(arguments describe errors hook memory tensors threads transfer trial torch/bridge torch/steps)

# Python and LibTorch know nothing of sanitizers: their runtime is loaded first, and what they keep until the end is no
# leak of ours.
asan_python_tests() {
  local folder=$PWD/build/asan/python log=$PWD/build/asan/pytest.log report=$PWD/build/asan/pytest.xml
  local runtime name files=()
  python_environment
  if ! configure asan -DTRAINWARDEN_PYTHON_PACKAGE=ON "-DPython_EXECUTABLE=$PWD/$venv/bin/python" ||
    ! cmake --build build/asan --parallel "$(build_jobs)" --target trainwarden_core >&2; then
    fail "the Python core does not build with sanitizers"
    return
  fi
  rm -rf "$folder" "$report"
  mkdir -p "$folder"
  cp -r adapters/python/trainwarden "$folder"
  cp build/asan/adapters/python/_core.*so "$folder/trainwarden"
  runtime=$(clang++-14 -print-file-name="libclang_rt.asan-$(uname -m).so")
  for name in "${core_tests[@]}"; do files+=("adapters/python/tests/$(dirname "$name")/test_$(basename "$name").py"); done
  LD_PRELOAD=$runtime ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 PYTHONMALLOC=malloc \
    PYTHONPATH=$folder OMP_NUM_THREADS=1 $venv/bin/python -m pytest -q --rootdir=. -p no:cacheprovider "${files[@]}" \
    --junit-xml="$report" </dev/null >"$log" 2>&1 || true
  add_report "python with sanitizers" "$report" "$log"
}

# ThreadSanitizer of g++ 12 wants its memory where recent kernels no longer put it, unless addresses are not random.
tsan_tests() {
  local wrap=()
  if setarch -R true 2>/dev/null; then wrap=(setarch -R); fi
  if try_build tsan tw_threads_tests; then ctest_stage tsan -L '^threads$'; fi
}

# fuzz_program SECONDS PROGRAM: from the seeds in the repository; what it finds goes to the build folder.
fuzz_program() {
  local seconds=$1 program=$2
  local name=${program##*/}
  local found=build/asan/fuzzing/found/$name
  mkdir -p "$found"
  "$program" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -artifact_prefix="build/asan/fuzzing/$name-" \
    "$found" "fuzz/corpus/${name#fuzz_}" >"build/asan/fuzzing/$name.log" 2>&1 && touch "build/asan/fuzzing/$name.passed"
}

fuzz_tests() {
  local seconds=${TRAINWARDEN_FUZZ_SECONDS:-20} program programs=()
  try_build asan tw_fuzz_programs || return 0
  for program in build/asan/fuzz/fuzz_*; do
    if [[ -f $program && -x $program ]]; then programs+=("$program"); fi
  done
  if ((${#programs[@]} == 0)); then
    fail "there are no fuzz programs"
    return
  fi
  rm -f build/asan/fuzzing/*.passed
  export -f fuzz_program
  printf '%s\n' "${programs[@]}" |
    xargs -P "$(nproc)" -I '{}' bash -c 'fuzz_program "$@"' fuzz_program "$seconds" '{}' || true
  for program in "${programs[@]}"; do
    check "${program##*/} for $seconds s" show_fuzz_log "${program##*/}"
  done
}

show_fuzz_log() {
  tail -n 60 "build/asan/fuzzing/$1.log"
  [[ -e build/asan/fuzzing/$1.passed ]]
}

# What each stage took, and all of them.
show_stage_times() {
  ((${#stage_times[@]} > 0)) || return 0
  printf '%s\n' "${stage_times[@]}" | awk '{ sum += $1; print } END { print sum " together" }' |
    while read -r seconds name; do say "$(printf '%6d s  %s' "$seconds" "$name")"; done
}

# The last line of the output is "N passed, N failed".
summarise() {
  local failure
  show_stage_times
  for failure in "${failures[@]}"; do say "FAILED: $failure"; done
  echo "$passed passed, $failed failed"
  ((failed == 0 && passed > 0))
}

run_test() {
  local quick=false
  case "$*" in
    --quick) quick=true ;;
    "") ;;
    *) wrong_usage "test takes --quick or nothing, not \"$*\"" ;;
  esac
  need_packages demo test python
  need_npm
  stage "rivals and foreign readers" rivals_for_tests
  stage "a mail server" mail_server_for_tests
  stage "checks of the sources" source_checks
  stage "release: build and test" release_tests
  stage "Python package" python_tests
  stage "page" page_tests
  stage "rules on faults and healthy trainings" rules_table_test
  if ! $quick; then
    stage "AddressSanitizer and UndefinedBehaviorSanitizer" asan_tests
    stage "the same in Python" asan_python_tests
    stage "ThreadSanitizer" tsan_tests
    stage "fuzzing" fuzz_tests
  fi
  summarise
}

run_check() {
  need_packages demo test
  source_checks
  summarise
}

run_fuzz() {
  need_packages demo test
  TRAINWARDEN_FUZZ_SECONDS=${1:-30} fuzz_tests
  summarise
}
