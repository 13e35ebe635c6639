# shellcheck shell=bash
# What both packages must do with the run that was just recorded. Sourced on the bare system.
trainwarden --version
trainwarden show runs/diverging
status=0
trainwarden check runs/diverging --rule "value(loss) > 1000" || status=$?
if [[ $status != 3 ]]; then
  echo "check: expected exit code 3, for a rule that fired; found $status" >&2
  exit 1
fi
trainwarden doctor runs/diverging
trainwarden export runs/diverging --to page page.html
grep -q '<script' page.html
