// Checks which formats can be converted, and plans the conversion.

#include <algorithm>
#include <memory>

#include "base/text.h"
#include "nnopbase/missing_memory.h"
#include "nnopbase/plan.h"
#include "ops/core/contiguous.h"
#include "ops/core/copy/strided_copy.h"
#include "ops/core/describe.h"
#include "ops/core/format/block_copy.h"
#include "ops/core/format/operators.h"
#include "ops/core/format/plain.h"
#include "ops/core/invalid.h"
#include "ops/core/tensor_memory.h"
#include "softnpu/softnpu.h"

namespace softnpu {
namespace {

// Reads a tensor in a plain format, of any data type with a size.
Status read_plain(const aclTensor& tensor, const char* role, View* out) {
  void* data = nullptr;
  SOFTNPU_RETURN_IF_ERROR(tensor_memory(tensor, role, &data));
  *out = {static_cast<char*>(data), tensor.dims, tensor.strides, tensor.dtype};
  for (int64_t& stride : out->strides) stride *= out->element();
  return Status::ok();
}

// A tensor in a blocked format; `sizes` are in the order of its format.
struct BlockedTensor {
  BlockLayout layout;
  char* data = nullptr;
};

Status check_block(const BlockFormat& format, const aclTensor& tensor, const char* role, int64_t* block) {
  *block = format.block;
  if (*block != 0) return Status::ok();
  *block = tensor.storage_dims.empty() ? 0 : tensor.storage_dims.back();
  for (const int64_t known : {2, 4, 8, 16, 32}) {
    if (*block == known) return Status::ok();
  }
  return invalid(text(role, " in the format ", format.name, " has the sizes ", describe_shape(tensor.storage_dims),
                      " in memory; the last is 2, 4, 8, 16 or 32"));
}

Status read_blocks(const BlockFormat& format, const aclTensor& tensor, const Dims& sizes, const char* role,
                   BlockedTensor* out) {
  int64_t block = 0;
  SOFTNPU_RETURN_IF_ERROR(check_block(format, tensor, role, &block));
  SOFTNPU_RETURN_IF_ERROR(lay_out(format, sizes, block, aclDataTypeSize(tensor.dtype), &out->layout));
  if (out->layout.storage_shape != tensor.storage_dims) {
    return invalid(text(role, " is ", describe(tensor), " in the format ", format.name, " with the sizes ",
                        describe_shape(tensor.storage_dims), " in memory where ",
                        describe_shape(out->layout.storage_shape), " are needed"));
  }
  if (out->layout.bytes == 0) return Status::ok();
  if (tensor.offset != 0 || !is_contiguous(tensor)) {
    return invalid(text(role, " in the format ", format.name, " is a view: blocks are cast as a whole"));
  }
  SOFTNPU_RETURN_IF_ERROR(not_null(tensor.data, role));
  void* data = nullptr;
  if (!find_device_memory(tensor.data, static_cast<size_t>(out->layout.bytes), &data)) {
    return invalid(text(role, " at ", tensor.data, " does not lie in one allocation of ", out->layout.bytes,
                        " bytes of device memory"));
  }
  out->data = static_cast<char*>(data);
  return Status::ok();
}

Status require_apart(const char* a, int64_t a_bytes, const char* b, int64_t b_bytes) {
  if (a + a_bytes <= b || b + b_bytes <= a) return Status::ok();
  return invalid("srcTensor and dstTensor share memory");
}

// Bytes from the first to the last; strides must not be negative.
int64_t reach(const View& view) {
  int64_t bytes = view.element();
  for (size_t i = 0; i < view.rank(); ++i) bytes += (view.sizes[i] - 1) * view.strides[i];
  return bytes;
}

Status differ(const aclTensor& src, const aclTensor& dst) {
  return invalid(text(describe(src), " in the format ", static_cast<int>(src.format), " does not become ",
                      describe(dst), " in the format ", static_cast<int>(dst.format), ": the sizes differ"));
}

// Sets the plan's work for that many elements in blocks, and returns the threads.
int set_effort(int64_t elements, Plan* plan) {
  const Effort effort = effort_of(static_cast<double>(elements));
  plan->work = effort.work;
  return effort.threads;
}

// Casts between a tensor in a blocked format and a plain one.
Status cast_blocks(const BlockFormat& format, const aclTensor& blocked, const aclTensor& tensor, bool packs,
                   Plan* plan) {
  const char* plain_role = packs ? "srcTensor" : "dstTensor";
  View plain;
  BlockedTensor blocks;
  DimOrder order;
  SOFTNPU_RETURN_IF_ERROR(dim_order_for(format, tensor.format, tensor.dims.size(), &order));
  SOFTNPU_RETURN_IF_ERROR(read_plain(tensor, plain_role, &plain));
  plain = arranged(plain, order);
  if (blocked.dims != tensor.dims && blocked.dims != plain.sizes) {
    return packs ? differ(tensor, blocked) : differ(blocked, tensor);
  }
  SOFTNPU_RETURN_IF_ERROR(read_blocks(format, blocked, plain.sizes, packs ? "dstTensor" : "srcTensor", &blocks));
  if (blocks.layout.bytes == 0) return plan_nothing(plan);
  SOFTNPU_RETURN_IF_ERROR(require_apart(blocks.data, blocks.layout.bytes, plain.data, reach(plain)));
  const int threads = set_effort(blocks.layout.bytes / plain.element(), plan);
  auto copy = std::make_shared<const BlockCopy>(blocks.layout, plain);
  plan->run = [copy, packs, threads, blocks = blocks.data, data = plain.data](void*) {
    if (packs) {
      copy->pack(data, blocks, threads);
    } else {
      copy->unpack(blocks, data, threads);
    }
    return Status::ok();
  };
  return Status::ok();
}

// Casts between two blocked formats, through a plain copy of the tensor.
Status cast_between_blocks(const BlockFormat& from, const aclTensor& src, const BlockFormat& to, const aclTensor& dst,
                           Plan* plan) {
  if (src.dims != dst.dims) return differ(src, dst);
  View whole{nullptr, src.dims, Dims(src.dims.size()), src.dtype};
  BlockedTensor blocks[2];
  View seen[2];
  int64_t bytes = whole.element();
  for (size_t i = whole.rank(); i-- > 0; bytes *= whole.sizes[i]) whole.strides[i] = bytes;
  for (size_t i = 0; i < 2; ++i) {
    const BlockFormat& format = i == 0 ? from : to;
    DimOrder order;
    SOFTNPU_RETURN_IF_ERROR(dim_order_for(format, ACL_FORMAT_ND, whole.rank(), &order));
    seen[i] = arranged(whole, order);
    SOFTNPU_RETURN_IF_ERROR(
        read_blocks(format, i == 0 ? src : dst, seen[i].sizes, i == 0 ? "srcTensor" : "dstTensor", &blocks[i]));
  }
  if (bytes == 0) return plan_nothing(plan);
  SOFTNPU_RETURN_IF_ERROR(
      require_apart(blocks[0].data, blocks[0].layout.bytes, blocks[1].data, blocks[1].layout.bytes));
  const int threads = set_effort(blocks[1].layout.bytes / whole.element(), plan);
  plan->workspace_bytes = checked(bytes);
  auto unpack = std::make_shared<const BlockCopy>(blocks[0].layout, seen[0]);
  auto pack = std::make_shared<const BlockCopy>(blocks[1].layout, seen[1]);
  plan->run = [unpack, pack, threads, src = blocks[0].data, dst = blocks[1].data](void* workspace) {
    unpack->unpack(src, static_cast<char*>(workspace), threads);
    pack->pack(static_cast<const char*>(workspace), dst, threads);
    return Status::ok();
  };
  return Status::ok();
}

Status cast_plain(const aclTensor& src, const aclTensor& dst, Plan* plan) {
  View from;
  View to;
  DimOrder order;
  SOFTNPU_RETURN_IF_ERROR(dim_order_between(src.format, dst.format, src.dims.size(), &order));
  SOFTNPU_RETURN_IF_ERROR(read_plain(src, "srcTensor", &from));
  SOFTNPU_RETURN_IF_ERROR(read_plain(dst, "dstTensor", &to));
  from = arranged(from, order);
  if (from.sizes != to.sizes) return differ(src, dst);
  CopyList list;
  list.add(to, from);
  return list.finish(describe_later({&src, &dst}), plan);
}

}  // namespace

Status format_cast(const aclTensor& src, aclTensor& dst, Plan* plan) {
  SOFTNPU_RETURN_IF_ERROR(same_dtype(src, dst));
  if (aclDataTypeSize(src.dtype) == 0) {
    return invalid(text("no format is defined for data type ", static_cast<int>(src.dtype)));
  }
  const BlockFormat* from = find_block_format(src.format);
  const BlockFormat* to = find_block_format(dst.format);
  if (from == nullptr && to == nullptr) return cast_plain(src, dst, plan);
  plan->describe = describe_later({&src, &dst});
  if (from != nullptr && to != nullptr) return cast_between_blocks(*from, src, *to, dst, plan);
  return from == nullptr ? cast_blocks(*to, dst, src, true, plan) : cast_blocks(*from, src, dst, false, plan);
}

Status sizes_in_format(const aclTensor& src, aclFormat format, int64_t block, Dims* out) {
  const BlockFormat* to = find_block_format(format);
  // The sizes that a program sees of a blocked tensor are in the order of the plain tensor.
  const aclFormat plain = find_block_format(src.format) == nullptr ? src.format : ACL_FORMAT_ND;
  DimOrder order;
  if (to == nullptr) {
    SOFTNPU_RETURN_IF_ERROR(dim_order_between(plain, format, src.dims.size(), &order));
    *out = arranged(src.dims, order);
    return Status::ok();
  }
  SOFTNPU_RETURN_IF_ERROR(dim_order_for(*to, plain, src.dims.size(), &order));
  BlockLayout layout;
  SOFTNPU_RETURN_IF_ERROR(lay_out(*to, arranged(src.dims, order), block, aclDataTypeSize(src.dtype), &layout));
  *out = layout.storage_shape;
  return Status::ok();
}

}  // namespace softnpu
