# shellcheck shell=bash
# Installs what is missing of the Debian packages in scripts/packages/*.txt. Sourced by dev.

# packages_of LIST...: the package names in scripts/packages/LIST.txt.
packages_of() {
  local list
  for list in "$@"; do sed -e 's/#.*//' -e '/^[[:space:]]*$/d' "scripts/packages/$list.txt"; done | awk '{print $1}' | sort -u
}

# not_installed PACKAGE...: those that are not.
not_installed() {
  comm -23 <(printf '%s\n' "$@" | sort -u) \
    <(dpkg-query --show --showformat='${Package} ${db:Status-Status}\n' "$@" 2>/dev/null |
      awk '$2 == "installed" {print $1}' | sort -u)
}

# as_root COMMAND...: runs it with the rights to install packages.
as_root() {
  if ((EUID == 0)); then "$@"; else sudo "$@"; fi
}

install_packages() {
  if ((EUID != 0)) && ! command -v sudo >/dev/null; then
    say "packages are missing, and you are neither root nor is there sudo. Ask your administrator for:"
    say "  apt-get install --no-install-recommends $*"
    return 1
  fi
  say "installing $*"
  as_root apt-get update -q </dev/null >&2
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends \
    -o DPkg::Lock::Timeout=120 "$@" </dev/null >&2
}

# need_packages LIST...: makes sure that all packages of the lists are there.
need_packages() {
  local wanted missing
  mapfile -t wanted < <(packages_of "$@")
  if ! command -v dpkg-query >/dev/null; then
    say "not a Debian machine, so packages are not checked. Needed are the counterparts of: ${wanted[*]}"
    return
  fi
  mapfile -t missing < <(not_installed "${wanted[@]}")
  if ((${#missing[@]} > 0)); then install_packages "${missing[@]}"; fi
  warn_of_slow_blas
}

# Slurm's daemons, which the tests start beside what runs there. Without them two programs of tests are skipped.
cluster_for_tests() {
  need_packages slurm || fail "Slurm cannot be installed: what submits to it is skipped"
}

# A server of ssh, which the tests start for themselves. Without it they skip jobs on other machines.
ssh_host_for_tests() {
  need_packages ssh || fail "sshd cannot be installed: jobs over ssh are skipped"
}

# Podman, which the tests give storage of their own. Without it tests/containers is skipped.
containers_for_tests() {
  need_packages containers || fail "podman cannot be installed: what runs jobs in containers is skipped"
}

# npm builds the page. One that is there already, from wherever, is left alone.
need_npm() {
  if ! command -v npm >/dev/null; then need_packages page; fi
}

# LibTorch computes with whatever library stands as libblas.so.3.
warn_of_slow_blas() {
  local link
  for link in /usr/lib/*-linux-gnu/libblas.so.3; do
    if [[ -e $link && $(readlink -f "$link") != *openblas* ]]; then
      say "LibTorch will be slow: $link is $(readlink -f "$link"). Choose OpenBLAS with:"
      say "  update-alternatives --config libblas.so.3-$(gcc -dumpmachine)"
    fi
  done
}
