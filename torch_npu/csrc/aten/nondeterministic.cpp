#include "aten/nondeterministic.h"

#include <ATen/Context.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>
#include <torch/library.h>

#include <memory>
#include <utility>

namespace torch_npu {
namespace {

using torch::jit::Stack;
using Condition = bool (*)(const Stack&);

struct Nondeterministic {
  const char* op;
  const char* name;  // in the message; the names of the official plug-in's tests
  Condition applies = nullptr;
};

constexpr int64_t kMaxMode = 2;  // of embedding_bag

const c10::IValue& argument(const Stack& stack, std::size_t arguments, std::size_t index) {
  return stack[stack.size() - arguments + index];
}
bool accumulates(const Stack& stack) { return argument(stack, 4, 3).toBool(); }  // else ATen's kernel alerts itself
bool has_weights(const Stack& stack) { return !argument(stack, 3, 1).isNone(); }
bool is_max(const Stack& stack) { return argument(stack, 12, 8).toInt() == kMaxMode; }
bool is_dense_max(const Stack& stack) { return argument(stack, 10, 7).toInt() == kMaxMode; }

// max_unpool2d, max_unpool3d and put_ without accumulation are not here: ATen's CPU kernels, which run them, alert.
// Neither is replication_pad2d_backward: programs rely on PyTorch's promise of a deterministic one (F.pad).
constexpr Nondeterministic kOperators[] = {
    {"_adaptive_avg_pool2d_backward", "adaptive_avg_pool2d_backward_npu"},
    {"_adaptive_avg_pool3d_backward", "adaptive_avg_pool3d_backward_npu"},
    {"_ctc_loss_backward", "ctc_loss_backward_gpu"},
    {"_ctc_loss_backward.Tensor", "ctc_loss_backward_gpu"},
    {"_embedding_bag_backward", "embedding_bag_backward_npu_max", &is_max},
    {"_embedding_bag_dense_backward", "embedding_bag_backward_npu_max", &is_dense_max},
    {"adaptive_max_pool2d_backward", "adaptive_max_pool2d_backward_npu"},
    {"adaptive_max_pool2d_backward.grad_input", "adaptive_max_pool2d_backward_npu"},
    {"avg_pool3d_backward", "avg_pool3d_backward_npu"},
    {"avg_pool3d_backward.grad_input", "avg_pool3d_backward_npu"},
    {"bincount", "_bincount_npu", &has_weights},
    {"fractional_max_pool2d_backward", "fractional_max_pool2d_backward_npu"},
    {"fractional_max_pool2d_backward.grad_input", "fractional_max_pool2d_backward_npu"},
    {"fractional_max_pool3d_backward", "fractional_max_pool3d_backward_npu"},
    {"fractional_max_pool3d_backward.grad_input", "fractional_max_pool3d_backward_npu"},
    {"grid_sampler_2d_backward", "grid_sampler_2d_backward_npu"},
    {"grid_sampler_3d_backward", "grid_sampler_3d_backward_npu"},
    {"kthvalue.values", "kthvalue NPU"},
    {"max_pool3d_with_indices_backward", "max_pool3d_with_indices_backward_npu"},
    {"max_pool3d_with_indices_backward.grad_input", "max_pool3d_with_indices_backward_npu"},
    {"median.dim_values", "median NPU with indices output"},
    {"nll_loss2d_forward", "nll_loss2d_forward_out_npu_template"},
    {"nll_loss2d_forward.output", "nll_loss2d_forward_out_npu_template"},
    {"put_", "put_", &accumulates},
    {"reflection_pad1d_backward", "reflection_pad1d_backward_out_npu"},
    {"reflection_pad1d_backward.grad_input", "reflection_pad1d_backward_out_npu"},
    {"reflection_pad3d_backward", "reflection_pad3d_backward_out_npu"},
    {"reflection_pad3d_backward.grad_input", "reflection_pad3d_backward_out_npu"},
    {"replication_pad1d_backward", "replication_pad1d_backward_npu"},
    {"replication_pad1d_backward.grad_input", "replication_pad1d_backward_npu"},
    {"replication_pad3d_backward", "replication_pad3d_backward_npu"},
    {"replication_pad3d_backward.grad_input", "replication_pad3d_backward_npu"},
    {"upsample_bicubic2d_backward", "upsample_bicubic2d_backward_out_npu"},
    {"upsample_bicubic2d_backward.grad_input", "upsample_bicubic2d_backward_out_npu"},
    {"upsample_bilinear2d_backward", "upsample_bilinear2d_backward_out_npu"},
    {"upsample_bilinear2d_backward.grad_input", "upsample_bilinear2d_backward_out_npu"},
    {"upsample_linear1d_backward", "upsample_linear1d_backward_out_npu"},
    {"upsample_linear1d_backward.grad_input", "upsample_linear1d_backward_out_npu"},
    {"upsample_trilinear3d_backward", "upsample_trilinear3d_backward_out_npu"},
    {"upsample_trilinear3d_backward.grad_input", "upsample_trilinear3d_backward_out_npu"},
};

// Alerts, then runs the kernel that was registered before.
class NonDeterministicAlert final : public c10::OperatorKernel {
 public:
  NonDeterministicAlert(const Nondeterministic& what, c10::SafeKernelFunction kernel)
      : what_(what), kernel_(std::move(kernel)) {}

  void operator()(const c10::OperatorHandle& op, c10::DispatchKeySet keys, Stack* stack) {
    if (at::globalContext().deterministicAlgorithms() && (what_.applies == nullptr || what_.applies(*stack))) {
      at::globalContext().alertNotDeterministic(what_.name);
    }
    kernel_.callBoxed(op, keys, stack);
  }

 private:
  const Nondeterministic& what_;
  c10::SafeKernelFunction kernel_;
};

// PyTorch warns of a second kernel for one operator and key.
class Silent final : public c10::WarningHandler {
  void process(const c10::Warning&) override {}
};

}  // namespace

void alert_of_nondeterminism() {
  Silent silent;
  const c10::WarningUtils::WarningHandlerGuard guard(&silent);
  // Never destroyed: used until the end of the process.
  static auto& library =
      *std::make_unique<torch::Library>(torch::Library::IMPL, "aten", c10::DispatchKey::PrivateUse1, __FILE__, __LINE__)
           .release();
  for (const Nondeterministic& what : kOperators) {
    const std::string name = what.op;
    const auto dot = name.find('.');
    const auto op = c10::Dispatcher::singleton().findSchemaOrThrow(
        ("aten::" + name.substr(0, dot)).c_str(), dot == std::string::npos ? "" : name.substr(dot + 1).c_str());
    library.impl(what.op, torch::CppFunction::makeFromBoxedFunctor(std::make_unique<NonDeterministicAlert>(
                              what, op.getComputedKernelForDispatchKey(c10::DispatchKey::PrivateUse1))));
  }
}

}  // namespace torch_npu
