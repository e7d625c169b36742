# Sourced by a shell: programs of CANN are built and run with the software NPU in this folder.
if [ -n "$BASH_VERSION" ]; then
  _softnpu_home=$(dirname -- "${BASH_SOURCE[0]}")
elif [ -n "$ZSH_VERSION" ]; then
  _softnpu_home=$(dirname -- "${(%):-%x}")
else
  _softnpu_home=${ASCEND_TOOLKIT_HOME:-}
fi
if [ ! -e "$_softnpu_home/lib64/libascendcl.so" ]; then
  echo "set_env.sh: source it in bash or zsh, or set ASCEND_TOOLKIT_HOME to its folder first" >&2
else
  _softnpu_home=$(cd -- "$_softnpu_home" && pwd)
  export ASCEND_TOOLKIT_HOME="$_softnpu_home"
  export ASCEND_HOME_PATH="$_softnpu_home"
  export ASCEND_AICPU_PATH="$_softnpu_home"
  export ASCEND_OPP_PATH="$_softnpu_home/opp"
  export LD_LIBRARY_PATH="$_softnpu_home/lib64${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
  export PATH="$_softnpu_home/bin:$_softnpu_home/tools/profiler/bin:$PATH"
  export PYTHONPATH="$_softnpu_home/python/site-packages${PYTHONPATH:+:$PYTHONPATH}"
fi
unset _softnpu_home
