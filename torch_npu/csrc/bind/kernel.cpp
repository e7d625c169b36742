#include "bind/kernel.h"

#include <torch/csrc/autograd/python_variable.h>
#include <torch/csrc/utils/python_numbers.h>

#include <memory>
#include <string>

#include "aten/empty.h"
#include "core/device.h"
#include "core/generated_kernel.h"
#include "core/stream.h"

namespace torch_npu {
namespace {

namespace py = pybind11;

// The device of the first npu tensor, else the current one.
c10::DeviceIndex device_of(const py::args& args, const std::string& signature) {
  for (std::size_t i = 0; i < signature.size(); ++i) {
    PyObject* object = PyTuple_GET_ITEM(args.ptr(), static_cast<Py_ssize_t>(i));
    if (!THPVariable_Check(object)) continue;
    const c10::Device device = THPVariable_Unpack(object).device();
    if (device.is_privateuseone()) return device.index();
  }
  return current_device();
}

void call(const GeneratedKernel& kernel, const py::args& args) {
  TORCH_CHECK_TYPE(args.size() == kernel.signature.size(), kernel.name, " takes ", kernel.signature.size(),
                   " arguments, not ", args.size());
  const c10::DeviceIndex device = device_of(args, kernel.signature);
  bind_device(device);
  KernelCall call{.kernel = &kernel, .arguments = {}, .written = {}, .kept = {}};
  call.arguments.reserve(args.size());
  for (std::size_t i = 0; i < args.size(); ++i) {
    PyObject* object = PyTuple_GET_ITEM(args.ptr(), static_cast<Py_ssize_t>(i));
    switch (kernel.signature[i]) {
      case 'i': call.arguments.push_back({.integer = THPUtils_unpackLong(object)}); break;
      case 'd': call.arguments.push_back({.number = THPUtils_unpackDouble(object)}); break;
      default:
        TORCH_CHECK_TYPE(THPVariable_Check(object), kernel.name, ": argument ", i, " must be a tensor");
        add_argument(call, THPVariable_Unpack(object), kernel.signature[i] == 'w', device);
    }
  }
  const py::gil_scoped_release no_gil;
  launch_generated(std::move(call), current_stream(device));
}

// `run` and `bind` are addresses of functions in a loaded library that stays loaded.
const GeneratedKernel* load(const std::string& name, const std::string& signature, std::uintptr_t run,
                            std::uintptr_t bind, double work) {
  reinterpret_cast<void (*)(const KernelThreads*)>(bind)(kernel_threads());
  return std::make_unique<GeneratedKernel>(
             GeneratedKernel{name, signature, reinterpret_cast<void (*)(const KernelWord*)>(run), work})
      .release();
}

}  // namespace

void bind_kernels(py::module_& m) {
  // Never destroyed: queued calls use it.
  py::class_<GeneratedKernel, std::unique_ptr<GeneratedKernel, py::nodelete>>(m, "GeneratedKernel")
      .def_readonly("name", &GeneratedKernel::name)
      .def_readonly("signature", &GeneratedKernel::signature)
      .def("__call__", &call);
  m.def("load_kernel", &load, py::return_value_policy::reference);
  // torch.empty_strided without the dispatcher.
  m.def("empty_strided", [](at::IntArrayRef size, at::IntArrayRef stride, at::ScalarType dtype, int device) {
    bind_device(static_cast<c10::DeviceIndex>(device));
    return make_strided_tensor(size, stride, dtype, static_cast<c10::DeviceIndex>(device));
  });
  m.def("check_kernels", [] { (void)kernel_threads(); });
  m.def("generated_launches", &generated_launches);
}

}  // namespace torch_npu
