# shellcheck shell=bash
# Configures and builds the presets of CMakePresets.json. Sourced by dev.
wrap=() # what stands before the commands of a stage

# How many compilers may run at once: a source that includes LibTorch takes up to 1.3 GB.
build_jobs() {
  local cpus memory_kb
  cpus=$(nproc)
  memory_kb=$(awk '/^MemAvailable:/ {print $2}' /proc/meminfo)
  local fitting=$((memory_kb / 1500000))
  echo $((fitting < 1 ? 1 : fitting < cpus ? fitting : cpus))
}

# configure PRESET [OPTION...]: quiet unless it fails.
configure() {
  local preset=$1 log
  shift
  mkdir -p build
  log=build/configure-$preset.log
  # CMake then describes the targets, for scripts/gate/ctest_programs.py.
  mkdir -p "build/$preset/.cmake/api/v1/query" && touch "build/$preset/.cmake/api/v1/query/codemodel-v2"
  if ! cmake --preset "$preset" "$@" >"$log" 2>&1; then
    cat "$log" >&2
    say "cannot configure preset $preset; the output above is in $log"
    return 1
  fi
}

# build PRESET [TARGET...]: all targets when none is named.
build() {
  configure "$1" || return 1
  build_configured "$@"
}

# The same of what is configured. Of everything in the release build, first what the demo needs: who waits for that has it.
build_configured() {
  local preset=$1
  shift
  if [[ $preset == release && $# == 0 ]]; then build_configured release "${demo_targets[@]}" || return 1; fi
  "${wrap[@]}" cmake --build "build/$preset" --parallel "$(build_jobs)" ${1:+--target "$@"}
}

# need_disk GIB: stops here, and not in the middle of a build, when the folder build cannot grow to that.
need_disk() {
  local needed=$1 built free
  mkdir -p build
  built=$(du -sk build | cut -f 1)
  free=$(df -Pk build | awk 'NR == 2 {print $4}')
  if ((built + free < needed * 1024 * 1024)); then
    say "the disk is too full: this takes $needed GiB in $PWD/build, $((built / 1024)) MiB are there already," \
      "and $((free / 1024)) MiB are free"
    return 1
  fi
}

# What `trainwarden run` preloads into LibTorch programs that know nothing of it. It looks for them in ../lib.
preload_targets=(trainwarden_preload trainwarden_torch_attach)

# The example and all that README's first commands need.
demo_targets=(trainwarden fashion_mnist "${preload_targets[@]}")
build_demo() {
  build release "${demo_targets[@]}"
}

# Prints the library that TRAINWARDEN_PRELOAD_LIBRARY takes.
build_preload() {
  build release "${preload_targets[@]}" >&2 || return 1
  echo "$PWD/build/release/lib/libtrainwarden_preload.so"
}
