#include "ops/blas/onednn/types.h"

#include <algorithm>
#include <limits>

namespace softnpu {
namespace {

bool multiplies(dnnl::memory::data_type type) {
  const dnnl::memory::desc square({64, 64}, type, dnnl::memory::format_tag::ab);
  try {
    const dnnl::matmul::primitive_desc created(onednn_engine(), square, square, square);
    return std::string_view(created.impl_info_str()).find("ref") == std::string_view::npos;
  } catch (const dnnl::error&) {
    return false;
  }
}

bool packs_weights() {
  using dnnl::memory;
  constexpr auto kType = memory::data_type::f32;
  const memory::desc plain({128, 512}, kType, memory::format_tag::ab);
  const memory::desc any({512, 512}, kType, memory::format_tag::any);
  const dnnl::matmul::primitive_desc created(onednn_engine(), plain, any, plain);
  return onednn_packs_weights(created.impl_info_str());
}

}  // namespace

dnnl::memory::data_type onednn_type(aclDataType dtype) {
  switch (dtype) {
    case ACL_FLOAT16: return dnnl::memory::data_type::f16;
    case ACL_BF16: return dnnl::memory::data_type::bf16;
    default: return dnnl::memory::data_type::f32;
  }
}

bool onednn_counts(std::initializer_list<int64_t> sizes) {
  return std::ranges::all_of(sizes, [](int64_t size) { return size <= std::numeric_limits<int32_t>::max(); });
}

bool onednn_multiplies(aclDataType dtype) {
  static const bool half = multiplies(dnnl::memory::data_type::f16);
  static const bool brain = multiplies(dnnl::memory::data_type::bf16);
  if (dtype == ACL_FLOAT16) return half;
  return dtype == ACL_BF16 ? brain : dtype == ACL_FLOAT;
}

bool onednn_has_tiles() {
  static_cast<void>(onednn_engine());  // applies the instruction limit
  constexpr auto kTiles = static_cast<unsigned>(dnnl::cpu_isa::avx512_core_amx);
  static const bool has = (static_cast<unsigned>(dnnl::get_effective_cpu_isa()) & kTiles) == kTiles;
  return has;
}

bool onednn_packs_weights(std::string_view implementation) { return implementation.starts_with("brg"); }

bool onednn_packs_weights() {
  static const bool packs = packs_weights();
  return packs;
}

}  // namespace softnpu
