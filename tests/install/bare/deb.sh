#!/usr/bin/env bash
# Runs on the bare system, where trainwarden's .deb is installed: a C++ program against its headers and library.
set -euo pipefail
mkdir -p /tmp/deb && cd /tmp/deb
g++ -std=c++20 /opt/bare/train.cc -ltrainwarden -o train
./train
test -e /usr/lib/libtrainwarden_preload.so
test -e /usr/share/bash-completion/completions/trainwarden
source /opt/bare/see.sh
