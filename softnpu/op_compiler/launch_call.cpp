#include "op_compiler/launch_call.h"

#include "acl/acl.h"
#include "ascendcl/tensor_desc.h"
#include "base/text.h"
#include "nnopbase/call_tensors.h"
#include "op_compiler/compile_cache.h"

namespace softnpu {

Status launch(RegistryCall* call, aclrtStream stream) {
  const auto body = [&]() -> Status {
    std::shared_ptr<const CompiledOperator> compiled;
    SOFTNPU_RETURN_IF_ERROR(compiled_operator(*call, &compiled));
    Plan plan;
    SOFTNPU_RETURN_IF_ERROR(compiled->rebind(operands_of(*call), &plan));
    for (size_t i = 0; i < plan.sizes.size(); ++i) call->outputs[i].tensor.shape = plan.sizes[i];
    if (softnpuWatchesOverflow() != 0) {
      for (const RegistryTensor& input : call->inputs) collect_input(&input.tensor);
    }
    return launch_plan(compiled->name(), std::move(plan), stream);
  };
  const Status status = body();
  return status.is_ok() ? status : Status(status.code(), text(call->type, ": ", status.message()));
}

Status compile(const RegistryCall& call) {
  std::shared_ptr<const CompiledOperator> compiled;
  const Status status = compiled_operator(call, &compiled);
  return status.is_ok() ? status : Status(status.code(), text(call.type, ": ", status.message()));
}

Status report_sizes(std::span<const RegistryTensor> outputs, aclTensorDesc* const* descs, aclrtStream stream) {
  bool waited = false;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].tensor.shape == nullptr) continue;
    if (!waited) {
      if (const aclError code = aclrtSynchronizeStream(stream); code != ACL_SUCCESS) {
        const char* reason = aclGetRecentErrMsg();
        return {code, reason == nullptr ? "the stream failed" : reason};
      }
      waited = true;
    }
    Dims dims;
    if (!outputs[i].tensor.shape->get(&dims)) continue;
    std::shared_ptr<aclTensorDesc> desc;
    SOFTNPU_RETURN_IF_ERROR(tensor_descs().find(descs[i], &desc));
    desc->dims.assign(dims.begin(), dims.end());
  }
  return Status::ok();
}

}  // namespace softnpu
