// Copies between the host and the device, and within it. PyTorch's copy_ calls them through _copy_from.

#include <ATen/MemoryOverlap.h>
#include <ATen/core/Tensor.h>
#include <ATen/native/CPUFallback.h>
#include <ATen/ops/copy.h>
#include <ATen/ops/copy_ops.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/empty_strided.h>
#include <aclnnop/aclnn_inplace_copy.h>
#include <c10/core/Event.h>
#include <torch/library.h>

#include "aten/aclnn/check.h"
#include "aten/aicpu/dense.h"
#include "aten/aicpu/fallback.h"
#include "aten/aicpu/host_call.h"
#include "aten/empty.h"
#include "core/acl.h"
#include "core/aclnn.h"
#include "core/allocator/host_allocator.h"
#include "core/device.h"
#include "core/format.h"
#include "core/program_lines.h"
#include "core/stream.h"
#include "core/sync_debug.h"
#include "core/trace.h"

namespace torch_npu {
namespace {

// Whether both are dense with the same memory order, so that bytes can be copied.
bool same_layout(const at::Tensor& a, const at::Tensor& b) {
  return a.scalar_type() == b.scalar_type() && a.is_conj() == b.is_conj() && a.is_neg() == b.is_neg() &&
         a.is_non_overlapping_and_dense() && a.strides() == b.strides() && a.sizes() == b.sizes();
}

const char* trace_name(aclrtMemcpyKind kind) {
  switch (kind) {
    case ACL_MEMCPY_HOST_TO_DEVICE: return "Memcpy HtoD";
    case ACL_MEMCPY_DEVICE_TO_HOST: return "Memcpy DtoH";
    default: return "Memcpy DtoD";
  }
}

void copy_bytes(const at::Tensor& dst, const at::Tensor& src, aclrtMemcpyKind kind, bool non_blocking) {
  std::size_t nbytes = dst.nbytes();
  if (nbytes == 0) return;
  const at::Tensor& npu = dst.is_privateuseone() ? dst : src;
  bind_device(npu.device().index());
  void* to = mutable_plain_data(dst);
  const void* from = plain_data(src);
  c10::Stream stream = current_stream(npu.device().index());
  // This wait can be interrupted; after it the host memory must stay valid until the copy is done.
  if (kind != ACL_MEMCPY_DEVICE_TO_DEVICE && !non_blocking) {
    alert_of_synchronization();
    wait_for_current_stream(npu.device().index());
  }
  {
    if (kind == ACL_MEMCPY_HOST_TO_DEVICE) program_lines::describe_copy(from, nbytes);
    trace::Launch launch(trace_name(kind), trace::Kind::kCopy, stream);
    acl_check(aclrtMemcpyAsync(to, nbytes, from, nbytes, kind, Enqueue(stream).handle()), "aclrtMemcpyAsync");
  }
  if (kind == ACL_MEMCPY_DEVICE_TO_DEVICE) return;
  if (non_blocking) {
    // Pinned memory must not be reused before the copy is done; pageable memory has already been copied.
    const c10::DataPtr& host = (dst.is_privateuseone() ? src : dst).storage().data_ptr();
    host_allocator().record_event(const_cast<void*>(host.get()), host.get_context(), stream);
  } else {
    synchronize_stream(stream);
  }
}

// For any strides and any two dtypes of aclnn. If the imaginary part is dropped, PyTorch's kernel warns.
bool copy_by_aclnn(const at::Tensor& dst, const at::Tensor& src) {
  static const AclnnOp<decltype(aclnnInplaceCopyGetWorkspaceSize)> inplace_copy("aclnnInplaceCopy");
  if (!inplace_copy.available() || (src.is_complex() && !dst.is_complex())) return false;
  aclnn_check::Check check;
  if (!check.takes(dst, aclnn_check::kCopiedDtypes) || !check.takes(src, aclnn_check::kCopiedDtypes)) return false;
  at::assert_no_internal_overlap(dst);
  return inplace_copy.try_launch(check.device(), dst, src.sizes() == dst.sizes() ? src : src.expand(dst.sizes()));
}

// Whether an operator copies these non-overlapping bytes faster than a single thread.
bool is_large(const at::Tensor& dst, const at::Tensor& src) {
  constexpr std::size_t kLeast = std::size_t{1} << 20;
  return dst.nbytes() >= kLeast && at::get_overlap_status(dst, src) == at::MemOverlapStatus::No;
}

// Within one device: copies bytes, or runs an operator or the host's copy kernel on the device's bytes.
void copy_within(const at::Tensor& dst, const at::Tensor& src) {
  c10::DeviceIndex device = dst.device().index();
  bind_device(device);
  materialize(dst);
  at::assert_no_partial_overlap(dst, src);
  if (same_layout(dst, src)) {
    if (is_large(dst, src) && copy_by_aclnn(dst, src)) return;
    copy_bytes(dst, src, ACL_MEMCPY_DEVICE_TO_DEVICE, true);
    return;
  }
  if (copy_by_aclnn(dst, src)) return;
  aicpu::HostCall call(device, "copy_");
  at::Tensor to = aicpu::dense_cpu_view(dst, device);
  to.copy_(aicpu::dense_cpu_view(src, device));
}

// Whether the device reads or writes the host tensor's bytes in their order while the host goes on.
bool is_queueable(const at::Tensor& host) {
  return host.is_non_overlapping_and_dense() && !host.is_conj() && !host.is_neg() && host.is_pinned();
}

// An uninitialised tensor of the device with the sizes, strides and type of `host`.
at::Tensor staged_like(const at::Tensor& host, at::Device device) {
  return at::empty_strided(host.sizes(), host.strides(), host.options().device(device).pinned_memory(false));
}

// Copies the source's elements to the device, in the layout of `dst` if possible.
void copy_to_device(const at::Tensor& dst, const at::Tensor& src, bool non_blocking) {
  if (same_layout(dst, src)) {
    copy_bytes(dst, src, ACL_MEMCPY_HOST_TO_DEVICE, non_blocking);
    return;
  }
  if (non_blocking && is_queueable(src)) {
    const at::Tensor staged = staged_like(src, dst.device());
    copy_bytes(staged, src, ACL_MEMCPY_HOST_TO_DEVICE, true);
    copy_within(dst, staged);
    return;
  }
  at::Tensor host = src.expand(dst.sizes()).resolve_conj().resolve_neg().contiguous();
  at::Tensor staged = make_tensor(dst.sizes(), src.scalar_type(), dst.device().index());
  copy_bytes(staged, host, ACL_MEMCPY_HOST_TO_DEVICE, false);
  copy_within(dst, staged);
}

void copy_to_host(const at::Tensor& dst, const at::Tensor& src, bool non_blocking) {
  if (same_layout(dst, src)) {
    copy_bytes(dst, src, ACL_MEMCPY_DEVICE_TO_HOST, non_blocking);
    return;
  }
  if (non_blocking && is_queueable(dst)) {
    const at::Tensor staged = staged_like(dst, src.device());
    copy_within(staged, src);
    copy_bytes(dst, staged, ACL_MEMCPY_DEVICE_TO_HOST, true);
    return;
  }
  at::Tensor dense = make_tensor(src.sizes(), src.scalar_type(), src.device().index());
  copy_within(dense, src);
  at::Tensor host = at::empty_like(dense, dense.options().device(at::kCPU));
  copy_bytes(host, dense, ACL_MEMCPY_DEVICE_TO_HOST, false);
  dst.copy_(host);
}

// Later work on `second` waits for the current work on `first`.
void order_streams(c10::Stream first, c10::Stream second) {
  c10::Event event(c10::DeviceType::PrivateUse1);
  event.record(first);
  event.block(second);
}

// Copies on the target's stream. Both streams' earlier work runs before, their later work after the copy.
void copy_between(const at::Tensor& dst, const at::Tensor& src) {
  const c10::Stream from = current_stream(src.device().index());
  const c10::Stream to = current_stream(dst.device().index());
  at::Tensor dense = src.resolve_conj().resolve_neg().contiguous();
  make_plain(*dense.storage().unsafeGetStorageImpl());
  at::Tensor staged = make_tensor(src.sizes(), src.scalar_type(), dst.device().index());
  order_streams(from, to);
  copy_bytes(staged, dense, ACL_MEMCPY_DEVICE_TO_DEVICE, true);
  order_streams(to, from);
  copy_within(dst, staged.expand(dst.sizes()));
}

at::Tensor copy_from(const at::Tensor& self, const at::Tensor& dst, bool non_blocking) {
  if (dst.numel() == 0) return dst;
  if (!dst.is_privateuseone()) {
    copy_to_host(dst, self, non_blocking);
  } else if (!self.is_privateuseone()) {
    copy_to_device(dst, self, non_blocking);
  } else if (self.device() == dst.device()) {
    copy_within(dst, self);
  } else {
    copy_between(dst, self);
  }
  return dst;
}

at::Tensor copy_from_and_resize(const at::Tensor& self, const at::Tensor& dst) {
  if (dst.sizes() != self.sizes()) dst.resize_(self.sizes());
  return copy_from(self, dst, false);
}

at::Scalar local_scalar_dense(const at::Tensor& self) {
  TORCH_CHECK(self.numel() > 0, "_local_scalar_dense: Empty tensor not supported");
  at::Tensor host = at::empty_like(self, self.options().device(at::kCPU));
  copy_bytes(host, self, ACL_MEMCPY_DEVICE_TO_HOST, false);
  return host.item();
}

// copy_ of sparse and nested tensors: moves the parts to the target's device first.
at::Tensor& copy_parts(at::Tensor& self, const at::Tensor& src, bool non_blocking) {
  if (self.device() != src.device()) return self.copy_(src.to(self.device()), non_blocking);
  return at::native::call_fallback_fn<&aicpu::fallback, at::_ops::copy_>::call(self, src, non_blocking);
}

TORCH_LIBRARY_IMPL(aten, SparsePrivateUse1, m) { m.impl("copy_", &copy_parts); }
TORCH_LIBRARY_IMPL(aten, SparseCsrPrivateUse1, m) { m.impl("copy_", &copy_parts); }
TORCH_LIBRARY_IMPL(aten, NestedTensorPrivateUse1, m) { m.impl("copy_", &copy_parts); }

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("_copy_from", &copy_from);
  m.impl("_copy_from_and_resize", &copy_from_and_resize);
  m.impl("_local_scalar_dense", &local_scalar_dense);
}

// The copies above handle lazy bits themselves; materialising them first would copy, and so recurse.
TORCH_LIBRARY_IMPL(aten, Conjugate, m) {
  m.impl("_copy_from", torch::CppFunction::makeFallthrough());
  m.impl("_copy_from_and_resize", torch::CppFunction::makeFallthrough());
}
TORCH_LIBRARY_IMPL(aten, Negative, m) {
  m.impl("_copy_from", torch::CppFunction::makeFallthrough());
  m.impl("_copy_from_and_resize", torch::CppFunction::makeFallthrough());
}

}  // namespace
}  // namespace torch_npu
