#!/usr/bin/env bash
# Runs on the bare system: the wheels of /opt/dist in an environment of their own, without a network.
set -euo pipefail
mkdir -p /tmp/wheel && cd /tmp/wheel
python3 -m venv --system-site-packages environment
environment/bin/pip install --quiet --no-index --no-deps /opt/dist/*.whl
export PATH=$PWD/environment/bin:$PATH
python /opt/bare/train.py
python -c 'import smdebug.trials, trainwarden; print(trainwarden.__file__)'
source /opt/bare/see.sh
