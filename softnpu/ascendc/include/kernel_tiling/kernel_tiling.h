#pragma once
// Kernels include it for structures of tiling data. Those of an operator come from its own header (ascendc --tiling).

#include "ascendc/tiling.h"
