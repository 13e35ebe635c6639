# shellcheck shell=bash
# The demo of a bottleneck: a training waits for its data, a rule says so and what mending gains, and the mended
# training is that much faster. Sourced by dev.

demo_bottleneck() {
  local folder=${TRAINWARDEN_RUNS:-runs} stamp program=examples/bottleneck/slow_loader.py
  stamp=$(date -u +%Y%m%d-%H%M%S)
  mkdir -p "$folder"
  say "a training that waits for its data; it takes half a minute"
  watched_training "$folder" "$stamp-slow" "$program"
  typed phases "$stamp-slow" --runs "$folder"
  typed rules "$stamp-slow" --runs "$folder"
  say "the same with a whole batch in each request"
  watched_training "$folder" "$stamp-fast" "$program" --mended
  typed phases "$stamp-fast" --runs "$folder"
  typed rules "$stamp-fast" --runs "$folder"
}

# watched_training FOLDER NAME PROGRAM [ARGUMENT...]: that a rule fired is no failure here.
watched_training() {
  local folder=$1 name=$2 status=0
  shift 2
  typed run --runs "$folder" --name "$name" --rules profiler -- "$venv/bin/python" "$@" || status=$?
  if ((status != 0 && status != 3)); then return "$status"; fi
}
