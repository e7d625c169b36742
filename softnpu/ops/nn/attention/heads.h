#pragma once
// Queries, keys and values in one form for all orders of dimensions.

#include <memory>
#include <string_view>
#include <vector>

#include "nnopbase/tensor.h"
#include "ops/core/convert/element_rows.h"

namespace softnpu {

// Where the pages of sequences are: pages[sequence * row + position / size].
struct Pages {
  const int64_t* pages = nullptr;
  int64_t row = 0;
  int64_t size = 0;   // positions of a page; 0: there are no pages
  int64_t count = 0;  // of pages in memory
};

// A tensor as [batch][head][position][channel]. Strides in bytes. With pages batch_stride is the distance between them.
struct Heads {
  char* data = nullptr;
  aclDataType dtype = ACL_DT_UNDEFINED;
  int64_t batch = 0, heads = 0, length = 0, channels = 0;
  int64_t batch_stride = 0, head_stride = 0, position_stride = 0, channel_stride = 0;
  ElementReader reader;  // to and from float32
  ElementWriter writer;
  Pages pages;
  // More channels of each position, in another tensor: `channels` counts them, too.
  std::shared_ptr<Heads> tail;

  bool is_paged() const { return pages.size > 0; }
  // Whether positions from `first` on are at one distance from each other, with all channels.
  bool is_run(int64_t first, int64_t count) const {
    if (tail != nullptr) return false;
    return !is_paged() || first / pages.size == (first + count - 1) / pages.size;
  }
  char* at(int64_t b, int64_t head, int64_t position) const {
    if (is_paged()) {
      b = pages.pages[b * pages.row + position / pages.size];
      position %= pages.size;
    }
    return data + b * batch_stride + head * head_stride + position * position_stride;
  }
  void read(int64_t b, int64_t head, int64_t position, float* to) const {
    const int64_t own = tail == nullptr ? channels : channels - tail->channels;
    reader.read(at(b, head, position), channel_stride, static_cast<size_t>(own), to);
    if (tail != nullptr) tail->read(b, head, position, to + own);
  }
  void write(const float* from, int64_t b, int64_t head, int64_t position) const {
    writer.write(from, static_cast<size_t>(channels), at(b, head, position), channel_stride);
  }
};

// `layout`: BSH, SBH, BSND, BNSD, NBSD, NSD, or TND or NTD (all sequences concatenated: here a batch of 1). `heads` is
// used if the layout does not contain it. float32, float16 and bfloat16 are supported.
Status read_heads(const aclTensor& tensor, const char* role, std::string_view layout, int64_t heads, Heads* out);

}  // namespace softnpu
