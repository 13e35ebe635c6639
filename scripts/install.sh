# shellcheck shell=bash
# What users install, made and tried: wheels (wheel.sh) and Debian packages. Sourced by dev.
readonly dist=build/dist

# trainwarden: program, library, preload library, headers, completions; trainwarden-torch: what is linked to LibTorch.
make_debs() {
  build release trainwarden trainwarden_torch "${preload_targets[@]}" completion_{bash,zsh,fish} >&2 || return
  (cd build/release && cpack -G DEB -B "$OLDPWD/$dist" >"$OLDPWD/build/cpack.log" 2>&1) || {
    cat build/cpack.log >&2
    return 1
  }
  rm -rf $dist/_CPack_Packages
}

run_wheel() {
  need_packages demo python install
  need_npm
  rm -rf $dist
  mkdir -p $dist
  make_wheels && make_debs || return
  ls -1 -s -h $dist/*.whl $dist/*.deb
}

# on_bare_system SUITE COMMAND PACKAGE...: runs a script of tests/install/bare on a Debian that has the packages and no
# others.
on_bare_system() {
  local suite=$1 command=$2 packages
  shift 2
  packages=$(IFS=,; echo "$*")
  mmdebstrap --variant=apt --include="$packages" --hook-dir=/usr/share/mmdebstrap/hooks/file-mirror-automount \
    --customize-hook="copy-in $PWD/$dist $PWD/tests/install/bare /opt" \
    --customize-hook="chroot \"\$1\" bash /opt/bare/$command" "$suite" /dev/null
}

# with_python VERSION: the same script in an environment of a Python of this machine.
with_python() {
  local interpreter numpy=$PWD/$wheels/numpy-$1
  interpreter=$(find_python "$1") || return
  "$interpreter" -m pip download --quiet --disable-pip-version-check --only-binary :all: --dest "$numpy" numpy || return
  bash tests/install/bare/wheel.sh "$interpreter" "$PWD/$dist" "$numpy"
}

job_in_image() {
  need_packages containers
  $python -B tests/containers/containerfile_trial.py --trainwarden build/release/bin/trainwarden --packages $dist
}

# On bare systems made of Debian packages, and with each Python that is here; nothing of this machine is touched.
install_check() {
  local version wheel=(wheel.sh python3-numpy python3-venv)
  need_packages install
  check "the packages are made" run_wheel
  check "the wheel works on a bare system" on_bare_system bookworm "${wheel[@]}"
  check "the wheel works on a bare system of the next Debian" on_bare_system trixie "${wheel[@]}"
  for version in 3.10 3.11 3.12 3.13 3.14; do
    if find_python $version >/dev/null; then check "the wheel works with Python $version" with_python $version; fi
  done
  check "the Debian package works on a bare system" on_bare_system bookworm deb.sh g++ ./$dist/trainwarden_*.deb
  check "a job trains in the image of packaging/Containerfile" job_in_image
}

run_install() {
  install_check
  summarise
}
