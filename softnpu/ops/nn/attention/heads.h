#pragma once
// Queries, keys and values in one form for all orders of dimensions.

#include <string_view>
#include <vector>

#include "nnopbase/tensor.h"
#include "ops/core/convert/element_rows.h"

namespace softnpu {

// A tensor as [batch][head][position][channel]. Strides in bytes.
struct Heads {
  char* data = nullptr;
  aclDataType dtype = ACL_DT_UNDEFINED;
  int64_t batch = 0, heads = 0, length = 0, channels = 0;
  int64_t batch_stride = 0, head_stride = 0, position_stride = 0, channel_stride = 0;
  ElementReader reader;  // to and from float32
  ElementWriter writer;

  char* at(int64_t b, int64_t head, int64_t position) const {
    return data + b * batch_stride + head * head_stride + position * position_stride;
  }
  void read(int64_t b, int64_t head, int64_t position, float* to) const {
    reader.read(at(b, head, position), channel_stride, static_cast<size_t>(channels), to);
  }
  void write(const float* from, int64_t b, int64_t head, int64_t position) const {
    writer.write(from, static_cast<size_t>(channels), at(b, head, position), channel_stride);
  }
};

// `layout`: BSH, SBH, BSND, BNSD or TND (all sequences concatenated: here a batch of 1). `heads` is used if the layout
// does not contain it. float32, float16 and bfloat16 are supported.
Status read_heads(const aclTensor& tensor, const char* role, std::string_view layout, int64_t heads, Heads* out);

}  // namespace softnpu
