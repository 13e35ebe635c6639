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
  check "the page's types hold" in_web npm run --silent check
  run_tests "page, units" $page_out/units.xml $page_out/units.log in_web npm run --silent test -- \
    --reporter=default --reporter=junit --outputFile.junit=../$page_out/units.xml
}

page_in_browser() {
  if ! command -v chromium >/dev/null; then
    fail "page: there is no chromium"
    return
  fi
  run_tests "page, in a browser" $page_out/e2e.xml $page_out/e2e.log in_web npm run --silent e2e
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
