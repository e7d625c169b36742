#pragma once
// What kernels that multiply matrices include.

#include "ascendc/matmul.h"
#include "kernel_operator.h"
