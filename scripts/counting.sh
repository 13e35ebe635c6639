# shellcheck shell=bash
# Checks and reports of test runners, counted; stages with their times. Sourced by dev.
#
# Each stage adds to `passed` and `failed` and names what failed, so that a failing stage does not hide the next one.
readonly scripts=$PWD/scripts
passed=0
passed_before=0 # under the same keys (scripts/gate)
failed=0
failures=()
stage_times=() # "SECONDS CPU_SECONDS NAME"

# check NAME COMMAND...: one check. Its output is shown only when it fails.
check() {
  local name=$1 log
  shift
  log=$(mktemp)
  if with_progress "$log" "$@"; then count_check "$name" "$log" 0; else count_check "$name" "$log" 1; fi
}

# count_check NAME LOG STATUS: counts a check that has ended.
count_check() {
  if (($3 == 0)); then
    passed=$((passed + 1))
    say "passed: $1"
  else
    cat "$2" >&2
    fail "$1"
  fi
  rm -f "$2"
}

# begin_check NAME COMMAND...: one check beside others. end_checks waits for all of them and counts them.
check_names=()
check_logs=()
check_pids=()
begin_check() {
  local log
  log=$(mktemp)
  "${@:2}" </dev/null >"$log" 2>&1 &
  check_names+=("$1")
  check_logs+=("$log")
  check_pids+=($!)
}

end_checks() {
  local i status
  for i in "${!check_names[@]}"; do
    status=0
    wait "${check_pids[i]}" || status=$?
    count_check "${check_names[i]}" "${check_logs[i]}" $status
  done
  check_names=()
  check_logs=()
  check_pids=()
}

# keyed_check NAME PATHS COMMAND...: a check that depends on nothing but PATHS (with commas between), and does not run when
# it has passed with them.
keyed_check() {
  local name=$1 paths=$2 plan=build/gate/${1//[^A-Za-z0-9]/-}.json had_failed=$failed
  shift 2
  plan_tests "$name" files "$plan" "$name=$paths" || return 0
  check "$name" "$@"
  if ((failed == had_failed)); then $python "$scripts/gate/gate.py" note-passed "$plan" "$name"; fi
}

# fail WHAT: one failure.
fail() {
  failed=$((failed + 1))
  failures+=("$1")
  say "FAILED: $1"
}

# stage NAME COMMAND...: says how long it took, and fails when that is more of the processors than its limit.
stage() {
  local name=$1 begin=$SECONDS before after cpu
  shift
  before=$(mktemp)
  after=$(mktemp)
  say "---- $name"
  times >"$before"
  "$@"
  times >"$after"
  if ! cpu=$($python "$scripts/minutes.py" --stage "$name" "$before" "$after"); then fail "$name takes longer than its limit"; fi
  rm -f "$before" "$after"
  stage_times+=("$((SECONDS - begin)) $cpu $name")
  say "---- $name took $((SECONDS - begin)) s, $cpu s of the processors"
}

# What the tree is, by its content. Nothing without git.
tree_id() {
  { git rev-parse HEAD && git diff HEAD; } 2>/dev/null | sha256sum | cut -d ' ' -f 1
}

# slice NAME COMMAND...: a stage that does not run again in a tree in which all of it has passed.
slice() {
  local name=$1 mark=build/slices/${1//[^A-Za-z0-9]/-} tree already count had_failed=$failed had_passed=$passed
  tree=$(tree_id)
  if git rev-parse HEAD >/dev/null 2>&1 && read -r already count 2>/dev/null <"$mark" && [[ $already == "$tree" ]]; then
    say "passed before in this tree: $name (rm $mark: once more)"
    passed=$((passed + count))
    return
  fi
  stage "$@"
  if ((failed == had_failed)); then mkdir -p build/slices && echo "$tree $((passed - had_passed))" >"$mark"; fi
}

# What a log says of failures: without the lines of tests that passed.
show_failures() {
  grep -v -E ' Passed +[0-9.]+ sec$|^ +Start +[0-9]+: ' "$1" | tail -n 200 >&2
}

# plan_tests NAME KIND PLAN ARGUMENT...: leaves in `chosen` what has to run, because it has not passed yet under the key
# of all that it can read (scripts/gate/gate.py). False when nothing has to.
chosen=()
plan_tests() {
  local name=$1 kind=$2 plan=$3 tests programs others
  shift 3
  if ! mapfile -t chosen < <($python "$scripts/gate/gate.py" "$kind" "$plan" "$@") || ((${#chosen[@]} == 0)); then
    fail "$name: it cannot be told what has to run"
    return 1
  fi
  read -r tests programs others <<<"${chosen[0]}"
  chosen=("${chosen[@]:1}")
  passed_before=$((passed_before + tests))
  if ((programs > 0)); then say "$name: $tests tests of $programs programs passed before under the same keys; $others to run"; fi
  ((others > 0))
}

# run_tests NAME JUNIT_FILE LOG COMMAND...: runs a test runner, adds up what its report says, and names each test that
# failed. A runner that fails with a clean report is a failure too: it may have died before its last test. What has passed
# of $plan, if there is one, is kept.
run_tests() {
  local name=$1 report=$2 log=$3 status=0 counts tests bad skipped test
  rm -f "$report"
  with_progress "$log" "${@:4}" || status=$?
  if ! counts=$($python "$scripts/test_report.py" "$report"); then
    tail -n 30 "$log" >&2
    fail "$name: ran no tests"
    return
  fi
  read -r tests bad skipped <<<"$counts"
  if [[ -n ${plan:-} ]]; then $python "$scripts/gate/gate.py" note "$plan" "$report" --status $status; fi
  passed=$((passed + tests - bad - skipped))
  say "$name: $tests tests, $bad failed, $skipped skipped"
  if ((bad == 0 && status == 0)); then return; fi
  show_failures "$log"
  if ((bad == 0)); then fail "$name: the runner ended with status $status (see $log)"; fi
  while read -r test; do fail "$name: $test (see $log)"; done < <(tail -n +2 <<<"$counts")
}

# Prints the time of each stage, and of all of them, beside their limits.
show_stage_times() {
  ((${#stage_times[@]} > 0)) || return 0
  printf '%s\n' "${stage_times[@]}" | $python "$scripts/minutes.py" --table /dev/stdin ${CCACHE_STATSLOG:+--cache-log "$CCACHE_STATSLOG"} |
    while IFS= read -r line; do say "$line"; done
}

# The last line of the output is "N passed, N failed".
summarise() {
  local failure
  show_stage_times
  $python "$scripts/gate/gate.py" flaky --since "${test_begin:-$EPOCHSECONDS}" | while read -r failure; do
    say "flaky: it has passed and failed with the same key: $failure"
  done
  for failure in "${failures[@]}"; do say "FAILED: $failure"; done
  if ((passed_before > 0)); then say "$passed_before tests passed before under the same keys (./dev test --fresh: run them, too)"; fi
  echo "$passed passed, $failed failed"
  ((failed == 0 && passed + passed_before > 0))
}
