# shellcheck shell=bash
# The Python packages trainwarden and smdebug: their environment, their wheels and their tests. Sourced by dev.
readonly venv=build/venv

# What pyproject.toml wants for the build and for the tests, one requirement a line.
python_requirements() {
  $python - <<'END'
import tomllib
with open("pyproject.toml", "rb") as file:
    project = tomllib.load(file)
print("\n".join(project["build-system"]["requires"] + project["project"]["optional-dependencies"]["test"]))
END
}

# An environment over the distribution's Python, which has LibTorch and NumPy, with the tools of the build and of the
# tests. They are looked for only when pyproject.toml asks for others than last time.
python_environment() {
  local wanted
  wanted=$(python_requirements)
  if [[ $(cat $venv/requirements.txt 2>/dev/null) == "$wanted" ]]; then return; fi
  $python -m venv --system-site-packages $venv
  $venv/bin/pip install --quiet --disable-pip-version-check ${wanted} >&2
  printf '%s\n' "$wanted" >$venv/requirements.txt
}

install_wheel() {
  $venv/bin/pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps --force-reinstall "$@" >&2
}

# The wheels of this tree, installed into the environment. The build folder stays, so that the next time is quick; the
# compiler and its options are those of the release build, so that ccache has most of it the first time.
python_package() {
  need_packages demo python
  need_npm
  python_environment
  CXX=c++ CMAKE_BUILD_PARALLEL_LEVEL=$(build_jobs) \
    install_wheel --config-settings=cmake.define.TRAINWARDEN_WERROR=ON . &&
    install_wheel ./adapters/smdebug
}

# pytest's tests and mypy's verdict, each counted.
python_tests() {
  local report=$PWD/build/python/pytest.xml
  if ! python_package; then
    fail "the Python package does not build"
    return
  fi
  rm -f "$report"
  OMP_NUM_THREADS=1 $venv/bin/python -m pytest -q --rootdir=. -p no:cacheprovider \
    adapters/python adapters/smdebug --junit-xml="$report" </dev/null >build/python/pytest.log 2>&1 || true
  add_report python "$report" build/python/pytest.log
}
