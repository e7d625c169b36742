#pragma once
// A second path of this header.

#include "third_party/op-plugin/op_plugin/include/ops.h"
