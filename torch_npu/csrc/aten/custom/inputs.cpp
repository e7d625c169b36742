#include "aten/custom/inputs.h"

#include <sstream>

namespace torch_npu::custom {

void Inputs::missing(const char* function) const {
  TORCH_CHECK_NOT_IMPLEMENTED(false, "npu::", name_, " needs ", function,
                              ", which the operator library of the bound CANN does not have: take a newer CANN, or "
                              "TORCH_NPU_CANN=softnpu");
}

void refuse_tensor(const char* name, const char* role, const at::Tensor& tensor, aclnn_check::Dtypes allowed) {
  std::ostringstream types;
  for (int8_t i = 0; i < static_cast<int8_t>(at::ScalarType::NumOptions); ++i) {
    const auto type = static_cast<at::ScalarType>(i);
    if ((aclnn_check::dtype_bit(type) & allowed) != 0) types << (types.tellp() > 0 ? ", " : "") << type;
  }
  TORCH_CHECK(tensor.defined(), "npu::", name, ": ", role, " is not defined");
  TORCH_CHECK(false, "npu::", name, ": ", role, " is a tensor of ", tensor.scalar_type(), ", size ", tensor.sym_sizes(),
              ", layout ", tensor.layout(), " on ", tensor.device(), "; dense tensors of ", types.str(),
              " are taken, all on one npu device");
}

}  // namespace torch_npu::custom
