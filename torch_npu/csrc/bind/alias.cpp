#include "bind/alias.h"

#include "core/alias.h"

namespace torch_npu {

void bind_alias(pybind11::module_& m) {
  m.def("change_data_ptr", &change_data_ptr, pybind11::call_guard<pybind11::gil_scoped_release>());
}

}  // namespace torch_npu
