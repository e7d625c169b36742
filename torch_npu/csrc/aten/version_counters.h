#pragma once
// Version counters of lists of tensors. Autograd's key ADInplaceOrView, above every kernel, raises the counters of
// tensors that an operator returns after writing them; operators on lists return nothing, so their kernels raise them.

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/Tensor.h>
#include <c10/core/TensorImpl.h>

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include "core/format.h"

namespace torch_npu {

inline void materialize_all(at::TensorList written) {
  for (const at::Tensor& tensor : written) {
    if (tensor.defined()) materialize(tensor);
  }
}

// Throws PyTorch's error for an inference tensor outside inference mode.
inline void raise_versions(at::TensorList written) {
  for (const at::Tensor& tensor : written) {
    if (tensor.defined()) tensor.unsafeGetTensorImpl()->bump_version();
  }
}

// RaisesVersions<&kernel, 0, 2>::call runs the kernel, which writes its arguments 0 and 2, lists: bytes that their
// tensors share with lazy clones are copied before, their counters are raised by one, whatever operators the kernel
// calls.
template <auto kKernel, std::size_t... kWritten>
struct RaisesVersions;

template <typename R, typename... Args, R (*kKernel)(Args...), std::size_t... kWritten>
struct RaisesVersions<kKernel, kWritten...> {
  static_assert(std::is_void_v<R>, "ADInplaceOrView raises the counters of what an operator returns");

  static void call(Args... args) {
    const auto given = std::tie(args...);  // lists are references to the caller's
    (materialize_all(std::get<kWritten>(given)), ...);
    {
      at::AutoDispatchBelowADInplaceOrView guard;
      kKernel(std::forward<Args>(args)...);
    }
    (raise_versions(std::get<kWritten>(given)), ...);
  }
};

}  // namespace torch_npu
