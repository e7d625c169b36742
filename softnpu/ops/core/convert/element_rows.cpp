#include "ops/core/convert/element_rows.h"

#include <algorithm>

namespace softnpu {
namespace {

// Whether elements in memory are in the type that kernels compute with.
bool is_own_compute_type(aclDataType dtype) {
  switch (dtype) {
    case ACL_FLOAT:
    case ACL_DOUBLE:
    case ACL_INT32:
    case ACL_INT64:
    case ACL_UINT64:
    case ACL_COMPLEX64:
    case ACL_COMPLEX128: return true;
    default: return false;
  }
}

// Never null if the dtypes differ; it may only copy.
ConvertComputed cast_row(ComputeType from, aclDataType to) {
  return to == ACL_BOOL ? truth_row(from) : compute_row(from, compute_type_of(to));
}

// Values per chunk: intermediate results stay in the first-level cache.
constexpr size_t kAtATime = 256;
constexpr size_t kMaxBytes = 16;
using Between = char[kAtATime * kMaxBytes];

}  // namespace

bool is_direct(aclDataType from, aclDataType as) { return from == as && is_own_compute_type(as); }

ElementReader::ElementReader(aclDataType from, aclDataType as)
    : load_(load_row(from)), element_(static_cast<ptrdiff_t>(aclDataTypeSize(as))) {
  direct_ = softnpu::is_direct(from, as);
  compute_bytes_ = compute_type_size(compute_type_of(as));
  if (from == as) return;
  cast_ = cast_row(compute_type_of(from), as);
  if (is_own_compute_type(as)) return;
  round_ = store_row(as);
  reload_ = load_row(as);
}

void ElementReader::read(const void* from, ptrdiff_t stride, size_t count, void* values) const {
  if (cast_ == nullptr) return load_(from, stride, count, values);
  alignas(64) Between between;
  for (size_t i = 0; i < count; i += kAtATime) {
    const size_t here = std::min(kAtATime, count - i);
    char* part = static_cast<char*>(values) + i * compute_bytes_;
    load_(static_cast<const char*>(from) + static_cast<ptrdiff_t>(i) * stride, stride, here, between);
    cast_(between, here, part);
    if (round_ == nullptr) continue;
    round_(part, here, between, element_);
    reload_(between, element_, here, part);
  }
}

ElementWriter::ElementWriter(aclDataType as, aclDataType to)
    : store_(store_row(to)), element_(static_cast<ptrdiff_t>(aclDataTypeSize(as))) {
  direct_ = softnpu::is_direct(as, to);
  compute_bytes_ = compute_type_size(compute_type_of(as));
  if (as == to) return;
  cast_ = cast_row(compute_type_of(as), to);
  if (is_own_compute_type(as)) return;
  round_ = store_row(as);
  reload_ = load_row(as);
}

void ElementWriter::write(const void* values, size_t count, void* to, ptrdiff_t stride) const {
  if (cast_ == nullptr) return store_(values, count, to, stride);
  alignas(64) Between between;
  alignas(64) Between rounded;
  for (size_t i = 0; i < count; i += kAtATime) {
    const size_t here = std::min(kAtATime, count - i);
    const void* part = static_cast<const char*>(values) + i * compute_bytes_;
    if (round_ != nullptr) {
      round_(part, here, between, element_);
      reload_(between, element_, here, rounded);
      part = rounded;
    }
    cast_(part, here, between);
    store_(between, here, static_cast<char*>(to) + static_cast<ptrdiff_t>(i) * stride, stride);
  }
}

ElementCast::ElementCast(aclDataType from, aclDataType to)
    : load_(load_row(from)),
      store_(store_row(to)),
      from_bytes_(static_cast<ptrdiff_t>(aclDataTypeSize(from))),
      to_bytes_(static_cast<ptrdiff_t>(aclDataTypeSize(to))),
      from_is_computed_(is_own_compute_type(from)),
      to_is_computed_(is_own_compute_type(to)) {
  if (to == ACL_BOOL || compute_type_of(from) != compute_type_of(to)) cast_ = cast_row(compute_type_of(from), to);
}

void ElementCast::run(const char* from, ptrdiff_t from_stride, size_t count, char* to, ptrdiff_t to_stride) const {
  const bool reads_in_place = from_is_computed_ && from_stride == from_bytes_;
  const bool writes_in_place = to_is_computed_ && to_stride == to_bytes_;
  if (cast_ == nullptr && reads_in_place) return store_(from, count, to, to_stride);
  if (cast_ == nullptr && writes_in_place) return load_(from, from_stride, count, to);
  if (reads_in_place && writes_in_place) return cast_(from, count, to);
  alignas(64) Between loaded;
  alignas(64) Between converted;
  for (size_t i = 0; i < count; i += kAtATime) {
    const size_t here = std::min(kAtATime, count - i);
    const void* values = from + static_cast<ptrdiff_t>(i) * from_stride;
    char* const result = to + static_cast<ptrdiff_t>(i) * to_stride;
    if (!reads_in_place) {
      load_(values, from_stride, here, loaded);
      values = loaded;
    }
    if (cast_ != nullptr) {
      void* const created = writes_in_place ? static_cast<void*>(result) : converted;
      cast_(values, here, created);
      values = created;
    }
    if (!writes_in_place) store_(values, here, result, to_stride);
  }
}

}  // namespace softnpu
