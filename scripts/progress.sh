# shellcheck shell=bash
# Long work is never silent. Sourced by dev.
readonly progress_seconds=10

# last_words LOG: the end of the last line that says something, without colours.
last_words() {
  tail -c 2000 "$1" 2>/dev/null | tr '\r' '\n' | sed -e 's/\x1b\[[0-9;]*[A-Za-z]//g' -e 's/ \.\.\.\.*/ ../' |
    grep '[[:alnum:]]' | tail -n 1 | cut -c 1-100 || true
}

# beside LOG COMMAND...: starts it and prints the number of its process. It is no child of this shell, which would count its
# time of a processor in the stage that happens to run when it ends.
beside() {
  "${@:2}" </dev/null >"$1" 2>&1 &
  echo $!
}

# with_progress LOG COMMAND...: its output goes to LOG; every ten seconds the last line of it is shown.
with_progress() {
  local log=$1 begin=$SECONDS shown=0 pid status=0
  shift
  "$@" </dev/null >"$log" 2>&1 &
  pid=$!
  trap 'kill "$pid" 2>/dev/null; exit 130' INT TERM
  while kill -0 "$pid" 2>/dev/null; do
    sleep 0.2
    if ((SECONDS - begin >= shown + progress_seconds)); then
      shown=$((SECONDS - begin))
      say "  $shown s: $(last_words "$log")"
    fi
  done
  wait "$pid" || status=$?
  trap - INT TERM
  return $status
}
