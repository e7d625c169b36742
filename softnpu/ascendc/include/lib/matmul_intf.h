#pragma once
// Kernels of the vector cores include it, too. The objects of the cube core, Matmul among them, are not there.

#include "kernel_operator.h"

namespace matmul {}
