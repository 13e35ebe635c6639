# shellcheck shell=bash
# BERT in C++ beside PyTorch with transformers, and its tokenizer beside Hugging Face's. Sourced by dev.
readonly on_newest_torch=build/on-newest-torch

# Our trainer on the LibTorch that the newest PyTorch brings: the rival's own.
build_on_newest_torch() {
  local folder
  folder=$("$environments_kept/torch2/newest/bin/python" -c 'import os, torch; print(os.path.dirname(torch.__file__))') || return
  configure release -B "$on_newest_torch" -D "TRAINWARDEN_TORCH_WHEEL=$folder" -D TRAINWARDEN_PAGE=OFF || return
  cmake --build "$on_newest_torch" --parallel "$(build_jobs)" --target bert_span_trainer
}

# bench_steps [NAME...]: of training and evaluation.
bench_steps() {
  local trainer=trainers/bert/comparison/bert_span_trainer
  build release bert_span_trainer >&2 && build_on_newest_torch >&2 || return
  $python bench/torch/bert_bench.py --side newest "$on_newest_torch/$trainer" "$environments_kept/torch2/newest/bin/python" \
    --side debian "build/release/$trainer" "$python" "$@"
}

# bench_tokenizer [NAME...]
bench_tokenizer() {
  build release bert_text_tool >&2 || return
  "$environments_kept/torch2/newest/bin/python" bench/torch/tokenizer_bench.py \
    --tool build/release/trainers/bert/tests/bert_text_tool "$@"
}

# is_among FIGURE [NAME...]: is it one of the figures that are asked for?
is_among() {
  local figure=$1 name
  shift
  for name in "$@"; do
    if [[ $name != --* && $figure == "$name"* ]]; then return 0; fi
  done
  asked_for "$figure" "$@"
}

bench_bert() {
  local status=0
  need_packages python
  begin_environment torch2/newest
  wait_for_environment torch2/newest || return
  if is_among bert.train_vs_torch "$@" || is_among bert.eval_vs_torch "$@"; then bench_steps "$@" || status=1; fi
  if is_among bert.tokenize_vs_library "$@"; then bench_tokenizer "$@" || status=1; fi
  return $status
}
