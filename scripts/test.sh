# shellcheck shell=bash
# What must hold before a change is taken in: stages, each of which counts what passed and failed (scripts/counting.sh).
# Sourced by dev.

readonly python=/usr/bin/python3 # the distribution's, which has NumPy; another may stand first on PATH

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
  check "each type has a name of its own, and names say what they mean" $python scripts/check_words.py
  check "environment variables are named in one place" $python scripts/check_environment_names.py
  check "links of the documents lead somewhere" $python scripts/check_links.py
  check "folders have pages that name what is there" $python scripts/check_folder_pages.py
  check "walks through the code name what is there" $python scripts/check_walks.py
  check "sources are formatted (./dev format)" check_format
}

# ctest_stage PRESET [CTEST ARGUMENT...]: runs tests that are built and adds up what they say.
ctest_stage() {
  local preset=$1 log=$PWD/build/$1/ctest.log report=$PWD/build/$1/ctest.xml
  shift
  rm -rf "build/$preset/cases"
  # One more than there are CPUs: some wait for clusters and servers.
  run_tests "$preset" "$report" "$log" "${wrap[@]}" ctest --test-dir "build/$preset" -j "$(($(nproc) + 1))" \
    --output-on-failure --output-junit "$report" "$@"
}

# try_build PRESET [TARGET...]: a build that fails is one failure.
try_build() {
  build "$@" >&2 && return
  fail "$1: does not build"
  return 1
}

# release_build TESTS: with tests of "programs" or "all". With the Python core, so that its stage only has to pack it.
release_build() {
  local tests=$1 before=build/cpu_before_demo after=build/cpu_after_demo
  if ! configure_python "-DTRAINWARDEN_TESTS=$tests"; then
    fail "release: cannot be configured"
    return
  fi
  times >$before
  if ! build_configured release "${demo_targets[@]}" >&2; then
    fail "release: what the demo needs does not build"
    return
  fi
  times >$after
  if $python scripts/minutes.py --demo $before $after "${demo_targets[@]}" >&2; then
    passed=$((passed + 1))
  else
    fail "what the demo needs has become too large for its five minutes (scripts/minutes.json)"
  fi
  if ! build_configured release >&2; then fail "release: does not build"; fi
}

release_tests() {
  if [[ -x build/release/bin/trainwarden ]]; then ctest_stage release; else fail "release: nothing to test"; fi
}

# Trainings with the fault of each rule, and healthy ones.
rules_table() {
  OMP_NUM_THREADS=1 $venv/bin/python scripts/rules_table.py --cli build/release/bin/trainwarden \
    --python "$venv/bin/python" "$@"
}

rules_table_test() {
  check "each rule finds its fault, and nothing in healthy trainings (./dev rules-table)" rules_table
}

# Trainings with a built-in bottleneck, their mended twins and healthy ones. No other variables than users have.
bottlenecks_table() {
  $venv/bin/python scripts/bottlenecks.py --cli build/release/bin/trainwarden --python "$venv/bin/python" "$@"
}

# Some of them, and only what is found: what is gained takes several runs on a machine that does nothing else.
bottlenecks_slice() {
  check "the profiler finds bottlenecks, and nothing in their mended twins (./dev bottlenecks)" bottlenecks_table \
    --findings-only --repeat 1 --only '^bottlenecks/(slow_start|long_evaluation)'
}

# Trainings with one fault each, and healthy ones: is the diagnosis right?
diagnosis_study() {
  $venv/bin/python tests/diagnosis/study.py --cli build/release/bin/trainwarden --python "$venv/bin/python" \
    --version "$(sha256sum build/release/bin/trainwarden | cut -c1-16)" --jobs "$(nproc)" "$@"
}

# The same programs under other tools, each in an environment of its own. Without a half: the one that is only reported on.
diagnosis_rivals() {
  local argument halves=(reporting)
  for argument in "$@"; do
    if [[ $argument == tuning || $argument == reporting || $argument == sealed ]]; then halves=(); fi
  done
  $python tests/diagnosis/rivals/rivals.py --python "$python" "$@" "${halves[@]}"
}

diagnosis_slice() {
  check "diagnoses of a family of trainings are right (./dev diagnosis)" diagnosis_study tuning --only mlp_clusters \
    --out build/diagnosis-slice --first-at-least 80 --alarms-at-most 0
}

# Programs of many shapes, alone and watched: output, exit code, files, time, memory.
invariance_suite() {
  local program=compare.py
  if [[ ${1-} == generate ]]; then
    program=generator.py
    shift
  fi
  $python "tests/invariance/$program" --cli build/release/bin/trainwarden --python "$venv/bin/python" "$@"
}

# What observers of generated programs see by design (docs/reference/pytorch.md, "Effects on the program").
readonly seen_by_design=(--without metadata --without depth --without objects --without descriptors --without references)

invariance_slice() {
  check "a training is the same alone and watched (./dev invariance)" invariance_suite --slice --rules default
  check "generated trainings are the same alone and watched (./dev invariance generate)" invariance_suite generate \
    --count 25 --rules default --found build/invariance "${seen_by_design[@]}"
}

# Time is compared, too: one at once.
invariance_test() {
  check "all programs are the same alone and watched (./dev invariance)" invariance_suite
  check "two thousand generated trainings are the same alone and watched (./dev invariance generate)" \
    invariance_suite generate --count 2000 --found build/invariance "${seen_by_design[@]}"
}

bottlenecks_test() {
  check "the profiler finds all bottlenecks and says what mending gains (./dev bottlenecks)" bottlenecks_table
}

# asan_tests PRESET: of the floors (asan), or of whole programs (asan-programs).
asan_tests() {
  local preset=$1
  if try_build "$preset"; then UBSAN_OPTIONS=print_stacktrace=1 ctest_stage "$preset"; fi
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
  rm -rf "$folder"
  mkdir -p "$folder"
  cp -r adapters/python/trainwarden "$folder"
  cp build/asan/adapters/python/_core.*so "$folder/trainwarden"
  runtime=$(clang++-14 -print-file-name="libclang_rt.asan-$(uname -m).so")
  for name in "${core_tests[@]}"; do files+=("adapters/python/tests/$(dirname "$name")/test_$(basename "$name").py"); done
  run_tests "python with sanitizers" "$report" "$log" env LD_PRELOAD="$runtime" ASAN_OPTIONS=detect_leaks=0 \
    UBSAN_OPTIONS=print_stacktrace=1 PYTHONMALLOC=malloc PYTHONPATH="$folder" OMP_NUM_THREADS=1 $venv/bin/python \
    -m pytest -q --rootdir=. -p no:cacheprovider "${files[@]}" --junit-xml="$report"
}

# ThreadSanitizer of clang 14 wants its memory where recent kernels no longer put it, unless addresses are not random.
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
  echo "fuzzing with $name"
  "$program" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -artifact_prefix="build/asan/fuzzing/$name-" \
    "$found" "fuzz/corpus/${name#fuzz_}" >"build/asan/fuzzing/$name.log" 2>&1 && touch "build/asan/fuzzing/$name.passed"
}

# fuzz_programs SECONDS PROGRAM...: as many at once as there are CPUs.
fuzz_programs() {
  local seconds=$1
  shift
  export -f fuzz_program
  printf '%s\n' "$@" | xargs -P "$(nproc)" -I '{}' bash -c 'fuzz_program "$@"' fuzz_program "$seconds" '{}'
}

fuzz_tests() {
  local seconds=${TRAINWARDEN_FUZZ_SECONDS:-10} program programs=()
  try_build asan tw_fuzz_programs || return 0
  for program in build/asan/fuzz/fuzz_*; do
    if [[ -f $program && -x $program ]]; then programs+=("$program"); fi
  done
  if ((${#programs[@]} == 0)); then
    fail "there are no fuzz programs"
    return
  fi
  mkdir -p build/asan/fuzzing
  rm -f build/asan/fuzzing/*.passed
  with_progress build/asan/fuzzing/all.log fuzz_programs "$seconds" "${programs[@]}" || true
  for program in "${programs[@]}"; do
    check "${program##*/} for $seconds s" show_fuzz_log "${program##*/}"
  done
}

show_fuzz_log() {
  tail -n 60 "build/asan/fuzzing/$1.log"
  [[ -e build/asan/fuzzing/$1.passed ]]
}

readonly test_begin=$EPOCHSECONDS

# What must hold before a change is taken in. RUN is `stage`, or `slice` for what goes on where it ended. TESTS are
# those of the release build: "programs" where the floors' own run with sanitizers, or "all".
quick_stages() {
  local run=$1 tests=$2
  begin_rivals
  "$run" "a mail server" mail_server_for_tests
  "$run" "a cluster" cluster_for_tests
  "$run" "a host for ssh" ssh_host_for_tests
  "$run" "containers" containers_for_tests
  "$run" "checks of the sources" source_checks
  "$run" "release: build" release_build "$tests"
  "$run" "rivals and foreign readers" rivals_for_tests
  "$run" "release: tests" release_tests
  "$run" "Python package" python_tests "$tests"
  "$run" "page" page_tests
  "$run" "rules on faults and healthy trainings" rules_table_test
  "$run" "bottlenecks" bottlenecks_slice
  "$run" "diagnoses" diagnosis_slice
  "$run" "invariance" invariance_slice
}

# Those that need it: its trainers and its compiler. It takes 6 s to be imported, so all of them take 20 minutes.
readonly needs_torch2=(-k "test_trainer or compiled or recompilation")

sanitizer_stages() {
  local run=$1
  "$run" "AddressSanitizer and UndefinedBehaviorSanitizer" asan_tests asan
  "$run" "the same in Python" asan_python_tests
  "$run" "ThreadSanitizer" tsan_tests
  "$run" "fuzzing" fuzz_tests
}

# What does not fit into the time of the gate.
long_stages() {
  local run=$1
  "$run" "each source compiled alone" daily_build
  "$run" "whole programs with AddressSanitizer and UndefinedBehaviorSanitizer" asan_tests asan-programs
  "$run" "all bottlenecks" bottlenecks_test
  "$run" "invariance of all programs" invariance_test
  "$run" "killed five thousand times" many_kills
  "$run" "ten thousand hostile folders" many_hostile_runs
  "$run" "fuzzing for five minutes each" long_fuzzing
  "$run" "the packages on a bare system" install_check
}

# gtest_program PROGRAM FILTER: outside ctest, which would end it after five minutes.
gtest_program() {
  local program=$1 filter=$2 name=${1##*/}
  local log=$PWD/build/release/$name.log report=$PWD/build/release/$name.xml
  run_tests "$name" "$report" "$log" "$program" --gtest_filter="$filter" --gtest_output="xml:$report"
}

# What a source has forgotten to include shows here: elsewhere it is compiled in one batch with others.
daily_build() {
  if try_build dev; then passed=$((passed + 1)); fi
}

many_kills() {
  if try_build release crash_tests; then
    TRAINWARDEN_KILLS=5000 gtest_program build/release/tests/crash/crash_tests 'CrashTest.KilledAtRandomMoments'
  fi
}

many_hostile_runs() {
  if try_build release hostile_tests; then
    TRAINWARDEN_HOSTILE_RUNS=10000 gtest_program build/release/tests/hostile/hostile_tests 'HostileRuns.*'
  fi
}

long_fuzzing() {
  TRAINWARDEN_FUZZ_SECONDS=300 fuzz_tests
}

run_test() {
  case "$*" in
    "" | --quick | --all) ;;
    --*) wrong_usage "test takes --quick, --all, the name of a floor, or nothing, not \"$*\"" ;;
    *)
      test_floor "$@"
      return
      ;;
  esac
  need_packages demo test python
  need_npm
  need_disk 14
  count_compiler_cache
  case ${1:-} in
    --quick) quick_stages stage all ;;
    --all)
      begin_environment torch2/newest
      begin_environment frameworks/new
      begin_environment frameworks/old
      quick_stages slice all
      slice "Python package on PyTorch 2" torch2_tests newest
      slice "Python package on an older PyTorch 2" torch2_tests middle
      slice "Python package on the oldest PyTorch 2" torch2_tests oldest
      slice "Python package on Keras and JAX" frameworks_tests all
      slice "Python package on MXNet and TensorFlow 2.15" old_frameworks_tests
      sanitizer_stages slice
      long_stages slice
      ;;
    *)
      begin_environment torch2/newest
      begin_environment frameworks/new
      quick_stages stage programs
      stage "Python package on PyTorch 2" torch2_tests newest "${needs_torch2[@]}"
      # A program that imports one takes 2 to 10 s of a processor, and all that is tested on them half an hour of the gate.
      stage "Python package on Keras and JAX" frameworks_tests conformance
      sanitizer_stages stage
      ;;
  esac
  show_minutes
  summarise
}

# test_floor FLOOR [CTEST ARGUMENT...]: its tests alone, in the build for daily work, in which one source is quickly
# compiled.
test_floor() {
  local floor=$1 folder
  shift
  folder=$($python scripts/floors.py --folder "$floor") || wrong_usage "there is no floor \"$floor\""
  need_packages demo test
  need_npm
  build dev "$folder/all" >&2 || return
  ctest --test-dir "build/dev/$folder" -j "$(nproc)" --output-on-failure "$@" </dev/null |
    grep -v -E ' Passed +[0-9.]+ sec$|^ +Start +[0-9]+: '
}

# The compiler's cache says of this run alone how much it had.
count_compiler_cache() {
  mkdir -p build
  export CCACHE_STATSLOG=$PWD/build/ccache.log
  rm -f "$CCACHE_STATSLOG"
}

# What each wing took of the gate's time, beside its allotment, and whether this was cold or warm.
show_minutes() {
  $python scripts/minutes.py --since "$test_begin" --cache-log "$CCACHE_STATSLOG" >&2 || true
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
