#pragma once
// A second path of this header.

#include "op_plugin/utils/op_api_common_base.h"
