# shellcheck shell=bash
# Checks and reports of test runners, counted; stages with their times. Sourced by dev.
#
# Each stage adds to `passed` and `failed` and names what failed, so that a failing stage does not hide the next one.
passed=0
failed=0
failures=()
stage_times=() # "SECONDS NAME"

# check NAME COMMAND...: one check. Its output is shown only when it fails.
check() {
  local name=$1 log
  shift
  log=$(mktemp)
  if with_progress "$log" "$@"; then
    passed=$((passed + 1))
    say "passed: $name"
  else
    cat "$log" >&2
    fail "$name"
  fi
  rm -f "$log"
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

# run_tests NAME JUNIT_FILE LOG COMMAND...: runs a test runner, adds up what its report says, and names each test that
# failed. A runner that fails with a clean report is a failure too: it may have died before its last test.
run_tests() {
  local name=$1 report=$2 log=$3 status=0 counts tests bad skipped test
  rm -f "$report"
  with_progress "$log" "${@:4}" || status=$?
  if ! counts=$($python scripts/test_report.py "$report"); then
    tail -n 30 "$log" >&2
    fail "$name: ran no tests"
    return
  fi
  read -r tests bad skipped <<<"$counts"
  passed=$((passed + tests - bad - skipped))
  say "$name: $tests tests, $bad failed, $skipped skipped"
  if ((bad == 0 && status == 0)); then return; fi
  show_failures "$log"
  if ((bad == 0)); then fail "$name: the runner ended with status $status (see $log)"; fi
  while read -r test; do fail "$name: $test (see $log)"; done < <(tail -n +2 <<<"$counts")
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
