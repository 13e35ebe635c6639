# shellcheck shell=bash
# The demo of attention: a small BERT learns, and a page shows its heads meanwhile. Sourced by dev.

# page_of FOLDER FILE: serves the folder of runs, and sets `page` to the link and `page_process` to the server. What the
# server prints goes to FILE, and its messages to FILE.log.
page_of() {
  local folder=$1 file=$2 begin=$SECONDS
  build/release/bin/trainwarden serve "$folder" --json >"$file" 2>"$file.log" </dev/null &
  page_process=$!
  until page=$(sed -n 's/.*"url": *"\([^"]*\)".*/\1/p' "$file") && [[ -n $page ]]; do
    if ! kill -0 "$page_process" 2>/dev/null || ((SECONDS - begin > 20)); then
      cat "$file.log" >&2
      say "the page is not served; what the server said is above"
      return 1
    fi
    sleep 0.1
  done
}

# demo_attention [ARGUMENT...]: arguments go to tiny_bert. Where nobody watches it ends with the training.
demo_attention() {
  local folder=${TRAINWARDEN_RUNS:-runs} name scratch status=0
  name=$(date -u +%Y%m%d-%H%M%S)-demo-attention
  scratch=$(mktemp -d)
  mkdir -p "$folder"
  # shellcheck disable=SC2064 # as it is now
  trap "rm -rf '$scratch'; kill \${page_process:-} 2>/dev/null || true" EXIT
  page_of "$folder" "$scratch/page"
  say "a small BERT learns to guess masked words; its heads, while they learn:"
  printf '\n  %s/run/%s/attention\n\n' "$page" "$name"
  build/release/bin/trainwarden run --runs "$folder" --name "$name" -- \
    build/release/bin/tiny_bert "$@" || status=$?
  if ((status != 0)); then return "$status"; fi
  show_attention "$folder" "$name"
  if [[ -t 0 && -t 1 ]]; then
    say "the page stays until Ctrl-C: $page/run/$name/attention"
    wait "$page_process" || true
  fi
}

# The same in the terminal: one head before and after.
show_attention() {
  local folder=$1 name=$2
  printf '\n'
  build/release/bin/trainwarden attn "$name" --runs "$folder" --layer 0 --head 0 --first 12
  printf '\nMore of it:\n  trainwarden attn %s --layer 2 --head 1\n  trainwarden top %s --once\n' "$name" "$name"
  printf '  trainwarden plot %s MaskedLanguageLoss_output_0\n  trainwarden serve %s\n' "$name" "$folder"
}
