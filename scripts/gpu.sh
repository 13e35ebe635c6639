# shellcheck shell=bash
# Tests and figures that need a CUDA device. Sourced by dev.
# shellcheck disable=SC2154 # python is of scripts/test.sh
readonly gpu_tests=src/data/device/device_gpu_tests

# Asks the driver, as our code does.
has_gpu() {
  $python -c 'import ctypes; count = ctypes.c_int(); cuda = ctypes.CDLL("libcuda.so.1")
raise SystemExit(cuda.cuInit(0) or cuda.cuDeviceGetCount(ctypes.byref(count)) or count.value == 0)' 2>/dev/null
}

# can_train PYTHON: has a PyTorch that sees a CUDA device, and our package.
can_train() {
  "$1" -c 'import torch, trainwarden.torch; raise SystemExit(not torch.cuda.is_available())' >/dev/null 2>&1
}

# nvrtc_of PYTHON: the compiler that PyTorch's wheels brought, for programs that are no Python. Nothing without it.
nvrtc_of() {
  "$1" -c 'import glob, torch
for folder in ("cu*", "cuda_nvrtc"):
    print(*glob.glob(f"{torch.__path__[0]}/../nvidia/{folder}/lib/libnvrtc.so.[0-9]*"), sep="\n")' 2>/dev/null |
    sed -n '/./{p;q}'
}

# run_test_gpu [--pack FOLDER] [PYTHON]: PYTHON trains for the figures.
run_test_gpu() {
  if [[ ${1:-} == --pack ]]; then
    pack_gpu_tests "${2:?./dev test-gpu --pack FOLDER: the folder is missing}"
    return
  fi
  local trainer=${1:-$PWD/$venv/bin/python}
  if ! has_gpu; then
    echo "skipped: this machine has no CUDA device; nothing was tested"
    return
  fi
  need_packages demo test
  build release device_gpu_tests >&2
  TRAINWARDEN_NVRTC=${TRAINWARDEN_NVRTC:-$(nvrtc_of "$trainer")} build/release/$gpu_tests
  if can_train "$trainer"; then
    "$trainer" bench/torch/gpu_bert.py
  else
    echo "skipped: the figures; $trainer has no PyTorch that sees the CUDA device, or no package trainwarden"
  fi
}

# For a machine with a GPU on which nothing can be built: FOLDER/run.sh [PYTHON] does there what test-gpu does here. The
# figures want our package in that Python.
pack_gpu_tests() {
  local folder=$1
  need_packages demo test
  build release device_gpu_tests >&2
  mkdir -p "$folder/lib"
  cp build/release/$gpu_tests bench/torch/gpu_bert.py "$folder"
  ldd build/release/$gpu_tests | sed -n 's/.*=> \(\/[^ ]*lib\(fmt\|hwy\|gtest\)[^ ]*\) .*/\1/p' |
    xargs -I '{}' cp '{}' "$folder/lib"
  cat >"$folder/run.sh" <<END
#!/usr/bin/env bash
# Made by ./dev test-gpu --pack. run.sh [PYTHON]
set -uo pipefail
cd "\$(dirname "\$0")"
trainer=\${1:-python3}
$(declare -f nvrtc_of)
TRAINWARDEN_NVRTC=\${TRAINWARDEN_NVRTC:-\$(nvrtc_of "\$trainer")} LD_LIBRARY_PATH=\$PWD/lib ./device_gpu_tests
status=\$?
"\$trainer" gpu_bert.py && exit \$status
END
  chmod +x "$folder/run.sh"
  say "packed into $folder"
}
