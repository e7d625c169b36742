#pragma once
// A piece of an encoded stream.

#include "acl/ops/acl_dvpp.h"

struct acldvppStreamDesc {
  void* data = nullptr;
  uint32_t size = 0;
  acldvppStreamFormat format = H265_MAIN_LEVEL;
  uint64_t timestamp = 0;
  uint32_t ret_code = 0;
  uint8_t eos = 0;
};
