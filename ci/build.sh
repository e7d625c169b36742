#!/usr/bin/env bash
# Builds the wheel: bash ci/build.sh --python=3.11
set -euo pipefail
cd "$(dirname "$0")/.."
usage="usage: bash ci/build.sh [--python=3.11|3.12|3.13|3.14]"
for argument in "$@"; do
  case "$argument" in
    --python=3.1[1-4]) export DEV_PYTHON="python${argument#--python=}" ;;
    --python=*) echo "ci/build.sh: Python ${argument#--python=} is not supported; $usage" >&2; exit 1 ;;
    *) echo "ci/build.sh: unknown argument $argument; $usage" >&2; exit 2 ;;
  esac
done
exec ./dev wheel
