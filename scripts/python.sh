# shellcheck shell=bash
# The Python packages trainwarden, smdebug, sagemaker and sda: their environment, their wheels and their tests. Sourced by dev.
readonly venv=build/venv
with_python=(-DTRAINWARDEN_PYTHON_PACKAGE=ON "-DPython_EXECUTABLE=$PWD/$venv/bin/python3"
  "-DPython3_EXECUTABLE=$PWD/$venv/bin/python3")

# python_requirements PART...: what pyproject.toml wants for the `build` and for the `test`, one requirement a line.
python_requirements() {
  $python - "$@" <<'END'
import sys, tomllib
with open("pyproject.toml", "rb") as file:
    project = tomllib.load(file)
parts = {"build": project["build-system"]["requires"], "test": project["project"]["optional-dependencies"]["test"]}
print("\n".join(requirement for part in sys.argv[1:] for requirement in parts[part]))
END
}

# An environment over the distribution's Python, which has LibTorch and NumPy, with the tools of the build and of the
# tests. They are looked for only when pyproject.toml asks for others than last time.
python_environment() {
  local wanted
  wanted=$(python_requirements build test)
  if [[ $(cat $venv/requirements.txt 2>/dev/null) == "$wanted" ]]; then return; fi
  $python -m venv --system-site-packages $venv
  say "installing into $venv what builds and tests the Python package"
  with_progress $venv/pip.log $venv/bin/pip install --disable-pip-version-check --progress-bar off ${wanted} || {
    cat $venv/pip.log >&2
    return 1
  }
  printf '%s\n' "$wanted" >$venv/requirements.txt
}

# The release build with the Python core in it, made against the environment's Python: the core is linked from the floors
# that are compiled already.
configure_python() {
  python_environment
  configure release "${with_python[@]}" "$@"
}

# pack PIP FOLDER SOURCE [PIP ARGUMENT...]: the wheel of SOURCE, in FOLDER.
pack() {
  local pip=$1 folder=$2 source=$3
  shift 3
  "$pip" wheel --disable-pip-version-check --no-build-isolation --no-deps --wheel-dir "$folder" "$@" \
    "$source" >&2
}

# The wheels of this tree, in FOLDER. scikit-build-core finds everything built.
build_wheels() {
  local folder=$1 setting settings=()
  for setting in build-dir=build/release cmake.define.TRAINWARDEN_{WERROR,DEVELOPER,TORCH}=ON; do
    settings+=("--config-settings=$setting")
  done
  build_configured release python_package >&2 || return
  pack $venv/bin/pip "$folder" . --quiet "${settings[@]}" &&
    pack $venv/bin/pip "$folder" ./adapters/smdebug --quiet &&
    pack $venv/bin/pip "$folder" ./adapters/sagemaker --quiet &&
    pack $venv/bin/pip "$folder" ./adapters/sda --quiet
}

# The wheels of this tree, installed into the environment.
python_package() {
  local folder=build/wheels
  need_packages demo python
  need_npm
  configure_python || return
  rm -rf $folder
  build_wheels $folder &&
    $venv/bin/pip install --quiet --disable-pip-version-check --no-deps --force-reinstall $folder/*.whl >&2
}

# python_tests TESTS: pytest's tests and mypy's verdict, each counted. Of libraries besides PyTorch "programs" has what each
# adapter must do, and "all" the rest.
python_tests() {
  local tests=$1 report=$PWD/build/release/pytest.xml log=$PWD/build/release/pytest.log library ignored=()
  local plan=build/release/gate-python.json
  if [[ $tests != all ]]; then
    for library in lightgbm sklearn xgboost; do ignored+=("--ignore=adapters/python/tests/$library"); done
  fi
  if ! python_package; then
    fail "the Python package does not build"
    return
  fi
  plan_tests python python $plan "$PWD/$venv/bin/python" plain adapters/python adapters/smdebug adapters/sagemaker \
    adapters/sda "${ignored[@]}" || return 0
  OMP_NUM_THREADS=1 run_tests python "$report" "$log" $venv/bin/python -m pytest -q --rootdir=. -p no:cacheprovider \
    -n "$(nproc)" --dist loadfile --junit-xml="$report" "${chosen[@]}"
}
