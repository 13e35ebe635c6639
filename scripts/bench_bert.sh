# shellcheck shell=bash
# BERT in C++ beside PyTorch with transformers. Sourced by dev.
readonly on_newest_torch=build/on-newest-torch

# Our trainer on the LibTorch that the newest PyTorch brings: the rival's own.
build_on_newest_torch() {
  local folder
  folder=$("$torch2_kept/newest/bin/python" -c 'import os, torch; print(os.path.dirname(torch.__file__))') || return
  configure release -B "$on_newest_torch" -D "TRAINWARDEN_TORCH_WHEEL=$folder" -D TRAINWARDEN_PAGE=OFF || return
  cmake --build "$on_newest_torch" --parallel "$(build_jobs)" --target bert_span_trainer
}

bench_bert() {
  local trainer=trainers/bert/comparison/bert_span_trainer
  need_packages python
  begin_torch2 newest
  build release bert_span_trainer >&2 || return
  wait_for_torch2 newest && build_on_newest_torch >&2 || return
  $python bench/torch/bert_bench.py --side newest "$on_newest_torch/$trainer" "$torch2_kept/newest/bin/python" \
    --side debian "build/release/$trainer" "$python" "$@"
}
