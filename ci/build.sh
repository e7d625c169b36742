#!/usr/bin/env bash
# Builds the wheel: bash ci/build.sh --python=3.11
set -euo pipefail
cd "$(dirname "$0")/.."
for argument in "$@"; do
  case "$argument" in
    --python=3.11) ;;
    --python=*) echo "ci/build.sh: Python ${argument#--python=} is not supported; use --python=3.11" >&2; exit 1 ;;
    *) echo "ci/build.sh: unknown argument $argument; usage: bash ci/build.sh --python=3.11" >&2; exit 2 ;;
  esac
done
exec ./dev wheel
