#include "ops/core/format/layout.h"

#include <algorithm>
#include <cctype>
#include <cstring>

#include "base/text.h"
#include "nnopbase/format.h"
#include "ops/core/describe.h"

namespace softnpu {
namespace {

constexpr BlockFormat kFormats[] = {
    {ACL_FORMAT_NC1HWC0, "NC1HWC0", "NCHW", "NcHW", 16, false},
    {ACL_FORMAT_NC1HWC0_C04, "NC1HWC0_C04", "NCHW", "NcHW", 4, false},
    {ACL_FORMAT_NDC1HWC0, "NDC1HWC0", "NCDHW", "NDcHW", 16, false},
    {ACL_FORMAT_FRACTAL_Z, "FRACTAL_Z", "NCHW", "cHWN", 16},
    {ACL_FRACTAL_Z_3D, "FRACTAL_Z_3D", "NCDHW", "DcHWN", 16},
    {ACL_FORMAT_FRACTAL_NZ, "FRACTAL_NZ", nullptr, nullptr, 0},
    {ACL_FORMAT_FRACTAL_NZ_C0_2, "FRACTAL_NZ_C0_2", nullptr, nullptr, 2},
    {ACL_FORMAT_FRACTAL_NZ_C0_4, "FRACTAL_NZ_C0_4", nullptr, nullptr, 4},
    {ACL_FORMAT_FRACTAL_NZ_C0_8, "FRACTAL_NZ_C0_8", nullptr, nullptr, 8},
    {ACL_FORMAT_FRACTAL_NZ_C0_16, "FRACTAL_NZ_C0_16", nullptr, nullptr, 16},
    {ACL_FORMAT_FRACTAL_NZ_C0_32, "FRACTAL_NZ_C0_32", nullptr, nullptr, 32},
};

static_assert(std::ranges::all_of(kFormats,
                                  [](const BlockFormat& format) { return is_blocked_format(format.format); }));

// With larger sizes the number of elements in blocks may overflow 64 bits.
constexpr int64_t kMaxSize = int64_t{1} << 56;

constexpr int64_t pieces(int64_t size, int64_t chunk) { return (size + chunk - 1) / chunk; }

// False if the product overflows 64 bits; never if a factor is 0.
bool multiply(const Dims& factors, int64_t* out) {
  *out = std::ranges::count(factors, 0) != 0 ? 0 : 1;
  if (*out == 0) return true;
  return std::ranges::all_of(factors, [out](int64_t factor) { return !__builtin_mul_overflow(*out, factor, out); });
}

// Sets the tensor's dimension for each dimension in memory; `cut` is the blocked one.
void order_dims(const BlockFormat& format, size_t rank, Dims* order, size_t* cut) {
  if (format.order == nullptr) {
    for (size_t i = 0; i + 2 < rank; ++i) order->push_back(static_cast<int64_t>(i));
    *cut = rank - 1;
    order->push_back(static_cast<int64_t>(rank - 1));
    order->push_back(static_cast<int64_t>(rank - 2));
    return;
  }
  for (const char* letter = format.order; *letter != '\0'; ++letter) {
    const char* found = std::strchr(format.sizes, std::toupper(*letter));
    order->push_back(found - format.sizes);
    if (*letter == 'c') *cut = static_cast<size_t>(found - format.sizes);
  }
}

Status too_large(const BlockFormat& format, const Dims& sizes) {
  return {ACLNN_ERR_PARAM_INVALID, text("the sizes ", describe_shape(sizes), " are too large for ", format.name)};
}

}  // namespace

const BlockFormat* find_block_format(aclFormat format) {
  const auto* found = std::ranges::find(kFormats, format, &BlockFormat::format);
  return found == std::end(kFormats) ? nullptr : found;
}

Status lay_out(const BlockFormat& format, const Dims& sizes, int64_t block, size_t element, BlockLayout* out) {
  if (std::ranges::any_of(sizes, [](int64_t size) { return size > kMaxSize; })) return too_large(format, sizes);
  *out = {};
  out->block = format.block == 0 ? block : format.block;
  Dims order;
  order_dims(format, sizes.size(), &order, &out->cut_dim);
  out->cut_size = sizes[out->cut_dim];
  Dims filled;
  for (size_t i = 0; i < order.size(); ++i) {
    const auto dim = static_cast<size_t>(order[i]);
    const int64_t size = dim == out->cut_dim ? pieces(sizes[dim], out->block) : sizes[dim];
    const bool is_rows = format.is_fractal && i + 1 == order.size();
    filled.push_back(is_rows ? pieces(size, kFractalRows) * kFractalRows : size);
    out->axes.push_back({dim, size, filled.back(), 0});
  }

  Dims factors = filled;
  factors.push_back(out->block);
  factors.push_back(static_cast<int64_t>(element));
  if (!multiply(factors, &out->bytes)) return too_large(format, sizes);
  int64_t stride = out->block;
  for (size_t i = order.size(); i-- > 0 && out->bytes != 0; stride *= filled[i]) out->axes[i].stride = stride;

  if (format.is_fractal) {
    const int64_t rows = filled.back();
    filled.pop_back();
    if (format.order != nullptr) {
      int64_t joined = 0;
      if (!multiply(filled, &joined)) return too_large(format, sizes);
      filled = {joined};
    }
    filled.push_back(rows / kFractalRows);
    filled.push_back(kFractalRows);
  }
  filled.push_back(out->block);
  out->storage_shape = filled;
  return Status::ok();
}

}  // namespace softnpu
