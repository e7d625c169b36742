#pragma once
// A part of kernel_operator.h that some kernels name.

#include "kernel_operator.h"
