#pragma once
// What every C function of libascendcl needs: the border, and the process behind it.

#include "base/border.h"
#include "runtime/process.h"
