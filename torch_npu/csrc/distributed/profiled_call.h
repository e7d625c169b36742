#pragma once
// The event of torch.profiler that a collective's call is, named as c10d's backends name them: "hccl:all_reduce".

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <ATen/record_function.h>
#include <c10/util/StringUtil.h>

#include <vector>

namespace torch_npu {

// Lasts as long as the host works on the call. Costs a flag's test where nothing profiles.
class ProfiledCall {
 public:
  ProfiledCall(const char* name, const std::vector<at::Tensor>& inputs) : record_(at::RecordScope::USER_SCOPE) {
    if (!record_.isActive()) return;
    record_._setAsync();  // the device ends it, later
    std::vector<c10::IValue> arguments;
    if (record_.needsInputs()) arguments.assign(inputs.begin(), inputs.end());
    record_.before(c10::str("hccl:", name), c10::ArrayRef<const c10::IValue>(arguments.data(), arguments.size()));
  }

 private:
  at::RecordFunction record_;
};

}  // namespace torch_npu
