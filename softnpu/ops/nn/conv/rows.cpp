#include "ops/nn/conv/rows.h"

#include <algorithm>
#include <cstring>

#include "ops/core/dtype.h"

namespace softnpu {
namespace {

int64_t floor_divide(int64_t a, int64_t b) { return a >= 0 ? a / b : -((b - 1 - a) / b); }
int64_t ceil_divide(int64_t a, int64_t b) { return -floor_divide(-a, b); }

// Calls row(position, count, offset) for each part of the positions that is in one row of the image.
template <typename Row>
void for_rows(const Image& image, int64_t position, int64_t count, const Row& row) {
  Triple at = position_of(image, position);
  for (int64_t done = 0; done < count;) {
    const int64_t here = std::min(count - done, image.sizes[2] - at[2]);
    row(at, here, done);
    done += here;
    at[2] = 0;
    if (++at[1] == image.sizes[1]) {
      at[1] = 0;
      ++at[0];
    }
  }
}

const char* address(const Image& image, int64_t batch, int64_t channel, const Triple& at) {
  int64_t element = batch * image.batch_stride + image.channel_offset(channel);
  for (size_t i = 0; i < 3; ++i) element += at[i] * image.strides[i];
  return image.data + element * static_cast<int64_t>(aclDataTypeSize(image.dtype));
}

}  // namespace

Tap tap_of(const Filter& filter, int64_t index) {
  Tap tap;
  for (size_t i = 3; i-- > 0;) {
    tap.at[i] = index % filter.sizes[i];
    index /= filter.sizes[i];
  }
  tap.channel = index;
  return tap;
}

Triple position_of(const Image& image, int64_t index) {
  const int64_t row = index / image.sizes[2];
  const int64_t plane = row / image.sizes[1];
  return {plane, row - plane * image.sizes[1], index - row * image.sizes[2]};
}

ImageRows::ImageRows(const ConvProblem& problem)
    : p_(problem),
      in_reader_(problem.in.dtype, problem.dtype),
      out_reader_(problem.out.dtype, problem.dtype),
      value_bytes_(static_cast<int64_t>(compute_type_size(compute_type_of(problem.dtype)))) {}

void ImageRows::in_seen_from_out(int64_t batch, int64_t channel, const Triple& tap, int64_t position, int64_t count,
                                 char* to) const {
  const auto stride = static_cast<ptrdiff_t>(aclDataTypeSize(p_.in.dtype)) * p_.in.strides[2] * p_.stride[2];
  for_rows(p_.out, position, count, [&](const Triple& at, int64_t here, int64_t done) {
    char* row = to + done * value_bytes_;
    Triple first{};  // position in the input of the row's first value
    for (size_t i = 0; i < 3; ++i) first[i] = at[i] * p_.stride[i] + tap[i] * p_.dilation[i] - p_.padding[i];
    int64_t begin = 0;
    int64_t end = 0;
    if (first[0] >= 0 && first[0] < p_.in.sizes[0] && first[1] >= 0 && first[1] < p_.in.sizes[1]) {
      begin = std::clamp<int64_t>(ceil_divide(-first[2], p_.stride[2]), 0, here);
      end = std::clamp<int64_t>(floor_divide(p_.in.sizes[2] - 1 - first[2], p_.stride[2]) + 1, begin, here);
    }
    std::memset(row, 0, static_cast<size_t>(begin * value_bytes_));
    std::memset(row + end * value_bytes_, 0, static_cast<size_t>((here - end) * value_bytes_));
    if (begin == end) return;
    first[2] += begin * p_.stride[2];
    in_reader_.read(address(p_.in, batch, channel, first), stride, static_cast<size_t>(end - begin),
                    row + begin * value_bytes_);
  });
}

void ImageRows::out_seen_from_in(int64_t batch, int64_t channel, const Triple& tap, int64_t position, int64_t count,
                                 char* to) const {
  const auto stride = static_cast<ptrdiff_t>(aclDataTypeSize(p_.out.dtype)) * p_.out.strides[2];
  std::memset(to, 0, static_cast<size_t>(count * value_bytes_));
  for_rows(p_.in, position, count, [&](const Triple& at, int64_t here, int64_t done) {
    Triple from{};
    for (size_t i = 0; i < 2; ++i) {
      const int64_t reached = at[i] + p_.padding[i] - tap[i] * p_.dilation[i];
      from[i] = floor_divide(reached, p_.stride[i]);
      if (from[i] * p_.stride[i] != reached || from[i] < 0 || from[i] >= p_.out.sizes[i]) return;
    }
    // Position x of this row uses value (x + reached) / stride of the other row, if that is an integer.
    const int64_t reached = at[2] + p_.padding[2] - tap[2] * p_.dilation[2];
    const int64_t step = p_.stride[2];
    const int64_t begin = std::max<int64_t>(0, ceil_divide(reached, step));
    const int64_t end = std::min(p_.out.sizes[2], floor_divide(reached + here - 1, step) + 1);
    if (begin >= end) return;
    from[2] = begin;
    char* row = to + (done + begin * step - reached) * value_bytes_;
    const char* source = address(p_.out, batch, channel, from);
    if (step == 1) return out_reader_.read(source, stride, static_cast<size_t>(end - begin), row);
    alignas(16) char gathered[kMaxPositions * 16];
    out_reader_.read(source, stride, static_cast<size_t>(end - begin), gathered);
    for (int64_t i = 0; i < end - begin; ++i) {
      std::memcpy(row + i * step * value_bytes_, gathered + i * value_bytes_, static_cast<size_t>(value_bytes_));
    }
  });
}

void ImageRows::out(int64_t batch, int64_t channel, int64_t position, int64_t count, char* to) const {
  const auto stride = static_cast<ptrdiff_t>(aclDataTypeSize(p_.out.dtype)) * p_.out.strides[2];
  for_rows(p_.out, position, count, [&](const Triple& at, int64_t here, int64_t done) {
    out_reader_.read(address(p_.out, batch, channel, at), stride, static_cast<size_t>(here), to + done * value_bytes_);
  });
}

}  // namespace softnpu
