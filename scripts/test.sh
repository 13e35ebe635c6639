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
  begin_check "includes keep to the floors" $python scripts/check_floors.py
  begin_check "the document has the table of floors" $python scripts/floors.py
  begin_check "imports of the page keep to its floors" $python scripts/check_page_floors.py
  begin_check "no floor reaches for a disk by itself" $python scripts/check_disk.py
  begin_check "every test is registered" $python scripts/check_tests_registered.py
  begin_check "public headers compile alone" $python scripts/check_headers.py
  begin_check "the command line prints through one place" $python scripts/check_output.py
  begin_check "each type has a name of its own, and names say what they mean" $python scripts/check_words.py
  begin_check "environment variables are named in one place" $python scripts/check_environment_names.py
  begin_check "links of the documents lead somewhere" $python scripts/check_links.py
  begin_check "folders have pages that name what is there" $python scripts/check_folder_pages.py
  begin_check "walks through the code name what is there" $python scripts/check_walks.py
  begin_check "sources are formatted (./dev format)" check_format
  end_checks
}

# ctest_stage PRESET [WHICH...]: runs tests that are built and adds up what they say. WHICH: --label LABEL, --without LABEL.
ctest_stage() {
  local preset=$1 log=$PWD/build/$1/ctest.log report=$PWD/build/$1/ctest.xml plan=build/$1/gate.json numbers
  shift
  rm -rf "build/$preset/cases"
  plan_tests "$preset" ctest "$plan" "build/$preset" "$@" || return 0
  numbers=$(IFS=,; echo "${chosen[*]}")
  echo ",0,,$numbers" >"build/$preset/chosen-tests"
  # One more than there are CPUs: some wait for clusters and servers.
  run_tests "$preset" "$report" "$log" "${wrap[@]}" ctest --test-dir "build/$preset" -j "$(($(nproc) + 1))" \
    --output-on-failure --output-junit "$report" -I "$PWD/build/$preset/chosen-tests"
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
  if [[ -x build/release/bin/trainwarden ]]; then ctest_stage release "$@"; else fail "release: nothing to test"; fi
}

# What waits for clusters, servers, clocks or other people's frameworks: these run when what they try has changed, else in
# `--all` (scripts/outside.json). Those of CTest have the label outside_NAME.
readonly outside_of_ctest=(slurm ssh containers swift)

outside_tests() {
  case $1 in
    slurm | ssh | containers | swift) ctest_stage release --label "outside_$1" ;;
    bottlenecks) bottlenecks_slice ;;
    torch2) torch2_tests newest "${needs_torch2[@]}" ;;
    frameworks) frameworks_tests all ;;
    boosting) boosting_tests ;;
    *) fail "scripts/outside.json names \"$1\", and scripts/test.sh does not run it" ;;
  esac
}

outside() { $python scripts/gate/outside.py "$@"; }

# outside_stage RUN NAME: with RUN, `stage` or `slice`. Where all of it was skipped it has not passed.
outside_stage() {
  local run=$1 name=$2 had_failed=$failed had_passed=$((passed + passed_before))
  "$run" "outside: $name" outside_tests "$name"
  if ((failed == had_failed && passed + passed_before > had_passed)); then outside passed "$name"; fi
}

# outside_in_time SECONDS NAME MINUTES: a stage that takes so many minutes, if it can end so long after the gate's begin.
outside_in_time() {
  if ((EPOCHSECONDS - test_begin + 60 * $3 < $1)); then
    outside_stage stage "$2"
  else
    say "outside: $2 takes about $3 minutes, which this gate has not left: ./dev test --all runs it"
  fi
  outside_named+=("$2")
}

# changed_outside: those whose paths have changed, the shortest first.
changed_outside() {
  local line changed
  mapfile -t changed < <(outside changed)
  for line in "${changed[@]}"; do outside_in_time "$time_for_changed" ${line}; done
}
outside_named=()

# waiting_outside N: says what has not passed for how long, and runs the N that have waited longest, if there is time.
waiting_outside() {
  local most=$1 name longest
  say "what waits for clusters, servers, clocks and frameworks, and has not run here:"
  outside waiting --but "${outside_named[@]}" | while read -r name; do say "  $name"; done
  mapfile -t longest < <(outside longest "$most" --but "${outside_named[@]}")
  for name in "${longest[@]}"; do outside_in_time "$time_for_waiting" ${name}; done
}
# Seconds. Continuous integration ends after 90 minutes.
readonly time_for_changed=$((75 * 60)) time_for_waiting=$((55 * 60))

# Trainings with the fault of each rule, and healthy ones.
rules_table() {
  OMP_NUM_THREADS=1 $venv/bin/python scripts/rules_table.py --cli build/release/bin/trainwarden \
    --python "$venv/bin/python" "$@"
}

rules_table_test() {
  check "each rule finds its fault, and nothing in healthy trainings (./dev rules-table)" rules_table --changed-and 8 \
    --depends-on "$(watched_trainings tests/rules)"
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

# What a check depends on that runs trainings under the program and the installed package.
watched_trainings() {
  local paths=build/release/bin/trainwarden,build/release/lib
  echo "$paths,$(echo $venv/lib/python3*/site-packages/trainwarden),$1"
}

diagnosis_slice() {
  keyed_check "diagnoses of a family of trainings are right (./dev diagnosis)" "$(watched_trainings tests/diagnosis)" \
    diagnosis_study tuning --only mlp_clusters \
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
  local paths
  paths=$(watched_trainings tests/invariance,../shared/data/harm)
  keyed_check "a training is the same alone and watched (./dev invariance)" "$paths" invariance_suite --slice --rules default
  keyed_check "generated trainings are the same alone and watched (./dev invariance generate)" "$paths" \
    invariance_suite generate --count 25 --rules default --found build/invariance "${seen_by_design[@]}"
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
  local runtime name files=() plan=build/asan/gate-python.json
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
  PYTHONPATH=$PWD/$folder plan_tests "python with sanitizers" python "$plan" "$PWD/$venv/bin/python" sanitizers \
    "${files[@]}" || return 0
  run_tests "python with sanitizers" "$report" "$log" env LD_PRELOAD="$runtime" ASAN_OPTIONS=detect_leaks=0 \
    UBSAN_OPTIONS=print_stacktrace=1 PYTHONMALLOC=malloc PYTHONPATH="$folder" OMP_NUM_THREADS=1 $venv/bin/python \
    -m pytest -q --rootdir=. -p no:cacheprovider "${chosen[@]}" --junit-xml="$report"
}

# ThreadSanitizer of clang 14 wants its memory where recent kernels no longer put it, unless addresses are not random.
tsan_tests() {
  local wrap=()
  if setarch -R true 2>/dev/null; then wrap=(setarch -R); fi
  if try_build tsan tw_threads_tests; then ctest_stage tsan --label threads; fi
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
  local seconds=${TRAINWARDEN_FUZZ_SECONDS:-10} program programs=() units=() names=()
  try_build asan tw_fuzz_programs || return 0
  for program in build/asan/fuzz/fuzz_*; do
    if [[ -f $program && -x $program ]]; then programs+=("$program"); fi
  done
  if ((${#programs[@]} == 0)); then
    fail "there are no fuzz programs"
    return
  fi
  for program in "${programs[@]}"; do
    units+=("${program##*/}=$program,fuzz/corpus/${program##*/fuzz_}")
  done
  plan_tests "fuzzing for $seconds s" files build/asan/gate-fuzzing.json "${units[@]}" || return 0
  programs=("${chosen[@]/#/build/asan/fuzz/}")
  mkdir -p build/asan/fuzzing
  rm -f build/asan/fuzzing/*.passed
  with_progress build/asan/fuzzing/all.log fuzz_programs "$seconds" "${programs[@]}" || true
  for program in "${programs[@]}"; do
    check "${program##*/} for $seconds s" show_fuzz_log "${program##*/}"
    if [[ -e build/asan/fuzzing/${program##*/}.passed ]]; then names+=("${program##*/}"); fi
  done
  $python scripts/gate/gate.py note-passed build/asan/gate-fuzzing.json "${names[@]}"
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
  "$run" "release: tests" release_tests "${outside_of_ctest[@]/#/--without=outside_}"
  "$run" "Python package" python_tests "$tests"
  "$run" "page" page_tests
  "$run" "rules on faults and healthy trainings" rules_table_test
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
  local waiting=0
  case "${1:-}" in
    "" | --quick) if (($# > 1)); then wrong_test "$*"; fi ;;
    --fresh) if (($# > 1)); then wrong_test "$*"; fi ;;
    --waiting)
      if [[ $# != 2 || ! $2 =~ ^[0-9]+$ ]]; then wrong_test "$*"; fi
      waiting=$2
      ;;
    --all)
      if [[ ${2:-} == --since && $# == 3 ]]; then
        outside waiting --since "$3"
        return
      fi
      if (($# > 1)); then wrong_test "$*"; fi
      ;;
    --*) wrong_test "$*" ;;
    *)
      test_floor "$@"
      return
      ;;
  esac
  if [[ ${1:-} == --fresh || ${1:-} == --all ]]; then export TRAINWARDEN_FRESH=1; fi
  need_packages demo test python
  need_npm
  need_disk 14
  count_compiler_cache
  case ${1:-} in
    --quick) quick_stages stage all ;;
    --all) all_stages ;;
    *) gate_stages "$waiting" ;;
  esac
  summarise
}

wrong_test() {
  wrong_usage "test takes --quick, --fresh, --waiting N, --all, --all --since DATE, the name of a floor, or nothing, not \"$1\""
}

# gate_stages WAITING: what continuous integration runs.
gate_stages() {
  begin_environment torch2/newest
  begin_environment frameworks/new
  quick_stages stage programs
  stage "what each adapter must do, on PyTorch 2" torch2_conformance
  # A program that imports one takes 2 to 10 s of a processor, and all that is tested on them half an hour of the gate.
  stage "what each adapter must do, on Keras and JAX" frameworks_tests conformance
  sanitizer_stages stage
  changed_outside
  waiting_outside "$1"
}

all_stages() {
  local name had_failed=$failed
  begin_environment torch2/newest
  begin_environment frameworks/new
  begin_environment frameworks/old
  quick_stages slice all
  slice "Python package on PyTorch 2" torch2_tests newest
  # These two have run all of these already.
  if ((failed == had_failed)); then for name in torch2 boosting; do outside passed $name; done; fi
  slice "Python package on an older PyTorch 2" torch2_tests middle
  slice "Python package on the oldest PyTorch 2" torch2_tests oldest
  slice "Python package on MXNet and TensorFlow 2.15" old_frameworks_tests
  sanitizer_stages slice
  for name in $(outside names); do
    if [[ $name != torch2 && $name != boosting ]]; then outside_stage slice "$name"; fi
  done
  long_stages slice
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
