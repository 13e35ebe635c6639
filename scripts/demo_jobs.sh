# shellcheck shell=bash
# The demo of jobs: a training is submitted, watched and killed, goes on from its checkpoint, and is asked where its
# model came from. Sourced by dev.

# typed WORD...: shows a command of the program as a user types it, and runs it.
typed() {
  printf '\n$ trainwarden %s\n' "$*"
  build/release/bin/trainwarden "$@"
}

# await_output FILE TEXT: until a program has printed it; false when that takes too long.
await_output() {
  local file=$1 text=$2 begin=$SECONDS
  until grep -qsF -- "$text" "$file"; do
    if ((SECONDS - begin > 240)); then
      say "the training has not come to \"$text\" within four minutes; $file has what it printed"
      return 1
    fi
    sleep 0.1
  done
}

# process_of_job JOB: of its program. Its name and a variable tell it from all others of this machine.
process_of_job() {
  local job=$1 folder
  for folder in /proc/[0-9]*; do
    if [[ $(cat "$folder/comm" 2>/dev/null) == fashion_mnist ]] &&
      tr '\0' '\n' <"$folder/environ" 2>/dev/null | grep -qx "TRAINWARDEN_JOB=$job"; then
      echo "${folder#/proc/}"
    fi
  done
}

# submit_demo_job JOB: under an experiment, which it makes the first time.
submit_demo_job() {
  build/release/bin/trainwarden experiment show demo-jobs >/dev/null 2>&1 || typed experiment create demo-jobs
  typed submit examples/fashion_mnist/job.toml --name "$1"
}

# kill_when_saved JOB JOBS: the program, some steps after its second checkpoint, or a later one on a busy machine.
kill_when_saved() {
  local job=$1 jobs=$2 process
  await_output "$jobs/$job/output.log" "step   120" || return 1
  process=$(process_of_job "$job")
  printf '\n$ kill -9 %s\n' "$process"
  kill -9 "$process"
}

demo_jobs() {
  local jobs=${TRAINWARDEN_JOBS:-jobs} job watcher
  job=$(date -u +%Y%m%d-%H%M%S)-demo-job
  say "a job learns FashionMNIST, and writes a checkpoint every 50 steps"
  submit_demo_job "$job"
  typed job logs -f "$job" &
  watcher=$!
  kill_when_saved "$job" "$jobs"
  wait "$watcher" || true # it says with its exit code that the job has failed
  typed job ls --name "$job"
  printf '\n'
  say "it goes on from its newest checkpoint, in the same run: each step is there once"
  typed job resume "$job" --wait
  typed job describe "$job"
  typed metrics show "$job"
  printf '\n'
  say "what went into its model, and what came of it:"
  typed lineage "$job"
  printf '\nMore of it:\n  trainwarden job files %s\n  trainwarden top %s --once\n' "$job" "$job"
  printf '  trainwarden experiment show demo-jobs\n  trainwarden serve\n'
}
