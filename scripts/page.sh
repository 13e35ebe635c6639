# shellcheck shell=bash
# The tests of the page: its types, its units, and the page in a browser over the built program. Sourced by dev.
readonly page_out=build/page

# in_web COMMAND...: with what package-lock.json names installed.
in_web() {
  (cd web && "$@")
}

page_tools() {
  if [[ web/node_modules/.package-lock.json -nt web/package-lock.json ]]; then return; fi
  mkdir -p $page_out
  with_progress $page_out/npm.log in_web npm ci --no-audit --no-fund --ignore-scripts --loglevel=error || {
    cat $page_out/npm.log >&2
    return 1
  }
  touch web/node_modules/.package-lock.json
}

# What needs no browser.
page_units() {
  local units=$page_out/gate-units.json had_failed=$failed
  plan_tests "page, types and units" files $units page=web || return 0
  check "the page's types hold" in_web npm run --silent check
  run_tests "page, units" $page_out/units.xml $page_out/units.log in_web npm run --silent test -- \
    --reporter=default --reporter=junit --outputFile.junit=../$page_out/units.xml
  if ((failed == had_failed)); then $python scripts/gate/gate.py note-passed $units page; fi
}

# A journey depends on its file, on what all of them share, and on the programs that it starts: the page is in ours.
page_in_browser() {
  local plan=$page_out/gate-browser.json journey units=() shared
  shared=web/e2e/harness.ts,web/e2e/served_runs.ts,web/e2e/looks,web/playwright.config.ts,web/package-lock.json
  shared+=,web/gallery,web/src,build/release/bin/trainwarden,build/release/tests/page/sample_runs,build/release/tests/page/sample_jobs
  for journey in web/e2e/*.spec.ts; do units+=("${journey##*/}=$journey,$shared"); done
  if ! command -v chromium >/dev/null; then
    fail "page: there is no chromium"
    return
  fi
  plan_tests "page, in a browser" files $plan "${units[@]}" || return 0
  run_tests "page, in a browser" $page_out/e2e.xml $page_out/e2e.log in_web npm run --silent e2e -- "${chosen[@]}"
}

page_tests() {
  mkdir -p $page_out
  if ! page_tools; then
    fail "page: its tools do not install"
    return
  fi
  page_units
  if try_build release trainwarden sample_runs; then page_in_browser; fi
}
