# shellcheck shell=bash
# The Python of the rivals and foreign readers (scripts/rivals.txt). Sourced by dev.
readonly rivals=build/rivals

install_rivals() {
  rm -rf $rivals
  $python -m venv --system-site-packages $rivals || return
  if ! with_progress $rivals/pip.log $rivals/bin/pip install --disable-pip-version-check --progress-bar off \
    -r scripts/rivals.txt; then
    cat $rivals/pip.log >&2
    return 1
  fi
  # Perfetto's messages, which want a newer protobuf than smdebug can live with.
  $python -m venv $rivals/perfetto &&
    $rivals/perfetto/bin/pip install --quiet --disable-pip-version-check perfetto==0.59.1 >&2 || return
  # A server of S3, which wants newer libraries too.
  $python -m venv $rivals/s3 &&
    $rivals/s3/bin/pip install --quiet --disable-pip-version-check 'moto[s3]==5.2.5' flask flask-cors >&2 || return
  cp scripts/rivals.txt $rivals/requirements.txt
}

# The other formats, which want newer libraries than smdebug.
install_formats() {
  local formats=$rivals/formats
  say "installing into $formats the other formats (scripts/formats.txt)"
  rm -rf $formats
  $python -m venv $formats || return
  if ! with_progress $rivals/formats.log $formats/bin/pip install --disable-pip-version-check --progress-bar off \
    -r scripts/formats.txt; then
    cat $rivals/formats.log >&2
    return 1
  fi
  cp scripts/formats.txt $formats/requirements.txt
}

# A second server of S3, which has nothing of the first.
install_swift() {
  rm -rf $rivals/swift
  $python -m venv $rivals/swift &&
    $rivals/swift/bin/pip install --quiet --disable-pip-version-check 'swift==2.38.3' 'boto3==1.44.8' >&2 || return
  touch $rivals/swift/complete
}

# Makes it, or makes it anew when its list has changed, and names its Python to tests and benchmarks.
rivals_environment() {
  need_packages python
  if ! cmp -s scripts/rivals.txt $rivals/requirements.txt; then
    install_rivals || return
  fi
  if ! cmp -s scripts/formats.txt $rivals/formats/requirements.txt; then
    install_formats || return
  fi
  export TRAINWARDEN_FORMATS_PYTHON=$PWD/$rivals/formats/bin/python
  if [[ ! -e $rivals/swift/complete ]]; then
    install_swift || return
  fi
  export TRAINWARDEN_RIVALS_PYTHON=$PWD/$rivals/bin/python
  export TRAINWARDEN_PERFETTO_PYTHON=$PWD/$rivals/perfetto/bin/python
  export TRAINWARDEN_MOTO_PYTHON=$PWD/$rivals/s3/bin/python
  export TRAINWARDEN_SWIFT_PYTHON=$PWD/$rivals/swift/bin/python
}

# begin_rivals: makes them while other stages compile.
rivals_pid=""
begin_rivals() {
  need_packages python
  mkdir -p build
  say "fetching rivals and foreign readers from PyPI, beside what follows (log: build/rivals.log)"
  rivals_pid=$(beside build/rivals.log rivals_environment)
}

# Without it the tests that compare with them are skipped; that this is so is one failure. What has failed beside other
# stages is tried once more.
rivals_for_tests() {
  while [[ -n $rivals_pid ]] && kill -0 "$rivals_pid" 2>/dev/null; do
    sleep "$progress_seconds"
    say "  $(last_words build/rivals.log | sed 's/^dev: *//')"
  done
  if ! rivals_environment; then fail "the rivals' Python cannot be made: what compares with them is skipped"; fi
}
