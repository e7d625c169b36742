// Operators whose result sizes depend on the values: the sizes are known after one wait.

#include "aten/dynamic.h"

#include <ATen/ExpandUtils.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/masked_select_cpu_dispatch.h>
#include <ATen/ops/nonzero_cpu_dispatch.h>
#include <aclnn/acl_meta.h>
#include <aclnnop/aclnn_masked_select.h>
#include <aclnnop/aclnn_nonzero.h>
#include <torch/library.h>

#include <memory>

#include "aten/aclnn/check.h"
#include "aten/aclnn/host.h"
#include "aten/empty.h"
#include "core/aclnn.h"
#include "core/device.h"
#include "core/stream.h"
#include "core/sync_debug.h"

namespace torch_npu {
namespace {

// An output with room for the maximum size, narrowed to the actual one afterwards.
class Found {
 public:
  Found(at::IntArrayRef most, at::ScalarType dtype, c10::DeviceIndex device)
      : room_(make_tensor(most, dtype, device)), descriptor_(acl_argument(room_)) {}

  aclTensor* descriptor() const { return descriptor_.get(); }

  // Waits for the operator and all work queued before it.
  at::Tensor take() {
    using GetViewShape = decltype(&aclGetViewShape);
    static const auto get_view_shape = reinterpret_cast<GetViewShape>(aclnn_symbol("aclGetViewShape"));
    wait();
    int64_t* sizes = nullptr;
    uint64_t dims = 0;
    check_aclnn(get_view_shape(descriptor_.get(), &sizes, &dims), "aclGetViewShape");
    const std::unique_ptr<int64_t[]> owned(sizes);
    const int64_t count = dims > 0 ? sizes[0] : 0;
    at::Tensor found = room_.narrow(0, 0, count);
    // A view that is smaller than the room would keep the room's memory.
    return blocks(found) < blocks(room_) ? found.clone() : found;
  }

 private:
  // A Ctrl-C ends the wait, but the operator writes to the descriptor later: then it is leaked on purpose.
  void wait() {
    const c10::DeviceIndex device = room_.device().index();
    try {
      wait_for_current_stream(device);
    } catch (...) {
      if (is_busy(current_stream(device))) descriptor_.give_up();
      throw;
    }
  }

  // The allocator's smallest blocks that a contiguous tensor takes.
  static std::size_t blocks(const at::Tensor& tensor) {
    constexpr std::size_t kBlock = 512;
    return (tensor.nbytes() + kBlock - 1) / kBlock;
  }

  at::Tensor room_;
  AclTensor descriptor_;
};

at::Tensor nonzero(const at::Tensor& self) {
  static const AclnnOp<decltype(aclnnNonzeroGetWorkspaceSize)> op("aclnnNonzero");
  aclnn_check::Check check;
  if (!op.available() || !check.takes(self, aclnn_check::kAllDtypes) || self.dim() == 0)
    return aclnn_check::Host<"nonzero", &at::cpu::nonzero>::call(self);
  alert_of_synchronization();
  bind_device(check.device());
  Found found({self.numel(), self.dim()}, at::kLong, check.device());
  if (!op.try_launch(check.device(), self, found.descriptor()))
    return aclnn_check::Host<"nonzero", &at::cpu::nonzero>::call(self);
  return found.take();
}

}  // namespace

std::optional<at::Tensor> try_masked_select(const at::Tensor& self, const at::Tensor& mask) {
  static const AclnnOp<decltype(aclnnMaskedSelectGetWorkspaceSize)> op("aclnnMaskedSelect");
  aclnn_check::Check check;
  if (!op.available() || !check.takes(self, aclnn_check::kAllDtypes) ||
      !check.takes(mask, aclnn_check::dtypes({at::kBool})) || !at::are_expandable(self.sizes(), mask.sizes()))
    return std::nullopt;
  alert_of_synchronization();
  bind_device(check.device());
  const auto sizes = at::infer_size_dimvector(self.sizes(), mask.sizes());
  Found found({c10::multiply_integers(sizes)}, self.scalar_type(), check.device());
  if (!op.try_launch(check.device(), self, mask, found.descriptor())) return std::nullopt;
  return found.take();
}

namespace {

at::Tensor masked_select(const at::Tensor& self, const at::Tensor& mask) {
  if (std::optional<at::Tensor> selected = try_masked_select(self, mask)) return *selected;
  return aclnn_check::Host<"masked_select", &at::cpu::masked_select>::call(self, mask);
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("nonzero", &nonzero);
  m.impl("masked_select", &masked_select);
}

}  // namespace
}  // namespace torch_npu
