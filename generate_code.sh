#!/bin/sh
# Writes the generated C++ and Python into the build folder, as ./dev gen does.
exec "$(dirname "$0")/dev" gen "$@"
