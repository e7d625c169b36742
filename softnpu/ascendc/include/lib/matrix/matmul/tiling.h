#pragma once
// Kernels include it for TCubeTiling.

#include "ascendc/cube_tiling.h"
