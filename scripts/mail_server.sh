# shellcheck shell=bash
# Debian's mail server, unpacked for tests and not installed (scripts/packages/mail_server.txt). Sourced by dev.
readonly mail_server=build/mail_server

# fetch_packages FOLDER PACKAGE...: their .deb files.
fetch_packages() {
  local folder=$1
  shift
  (cd "$folder" && apt-get download -q "$@" </dev/null >&2)
}

# A library that is missing shows here rather than in a test.
mail_server_starts() {
  local libraries
  libraries=$(find "$1/usr/lib" -name '*.so*' -printf '%h\n' | sort -u | tr '\n' ':')
  ! LD_LIBRARY_PATH=$libraries ldd "$1/usr/sbin/exim4" | grep 'not found' >&2
}

unpack_mail_server() {
  local packages package new=$mail_server.new
  mapfile -t packages < <(packages_of mail_server)
  rm -rf $new && mkdir -p $new/packages
  if ! fetch_packages $new/packages "${packages[@]}"; then
    as_root apt-get update -q </dev/null >&2 && fetch_packages $new/packages "${packages[@]}" || return
  fi
  for package in "$new"/packages/*.deb; do dpkg-deb -x "$package" $new || return; done
  mail_server_starts $new && rm -rf $mail_server && mv $new $mail_server && cp scripts/packages/mail_server.txt $mail_server/
}

# Makes it, or makes it anew when its list has changed. Without it one test is skipped; that this is so is one failure.
mail_server_for_tests() {
  if cmp -s scripts/packages/mail_server.txt $mail_server/mail_server.txt || unpack_mail_server; then return; fi
  fail "Debian's mail server cannot be had: what sends mail to it is skipped"
}
