#include "bind/storage.h"

#include <ATen/core/Tensor.h>
#include <torch/csrc/DynamicTypes.h>
#include <torch/csrc/Storage.h>
#include <torch/csrc/utils/pybind.h>

#include "core/format.h"
#include "core/format_clone.h"
#include "core/storage.h"

namespace torch_npu {
namespace {

namespace py = pybind11;

// None for a storage without a format.
py::object clone(const py::object& object) {
  TORCH_CHECK_TYPE(torch::isStorage(object.ptr()), "expected a storage");
  const c10::Storage& storage = THPStorage_Unpack(object.ptr());
  c10::intrusive_ptr<c10::StorageImpl> result;
  {
    py::gil_scoped_release no_gil;
    result = clone_with_format(*storage.unsafeGetStorageImpl());
  }
  if (result == nullptr) return py::none();
  return py::reinterpret_steal<py::object>(torch::createPyObject(c10::Storage(std::move(result))));
}

// torch.ByteTensor and the like are types in C whose attributes Python code cannot set.
void set_type_attribute(const py::object& type, const py::str& name, const py::object& value) {
  TORCH_CHECK_TYPE(PyType_Check(type.ptr()), "expected a type");
  auto* object = reinterpret_cast<PyTypeObject*>(type.ptr());
  if (PyDict_SetItem(object->tp_dict, name.ptr(), value.ptr()) != 0) throw py::error_already_set();
  PyType_Modified(object);
}

// A tensor over the same memory that does not keep it alive.
at::Tensor weak_ref(const at::Tensor& tensor) {
  TORCH_CHECK_TYPE(tensor.is_privateuseone() && tensor.layout() == at::kStrided,
                   "_weak_ref_tensor: a dense npu tensor is taken, not one on ", tensor.device());
  const c10::Storage& storage = tensor.storage();
  void* const bytes = mutable_bytes_of(*storage.unsafeGetStorageImpl(), BytesLayout::kPlain);
  at::Tensor weak = at::detail::make_tensor<c10::TensorImpl>(
      c10::Storage(make_storage(storage.nbytes(), c10::DataPtr(bytes, tensor.device()))),
      c10::DispatchKeySet(c10::DispatchKey::PrivateUse1), tensor.dtype());
  weak.unsafeGetTensorImpl()->set_sizes_and_strides(tensor.sizes(), tensor.strides(), tensor.storage_offset());
  return weak;
}

}  // namespace

void bind_storage(py::module_& m) {
  m.def("clone_storage_with_format", &clone);
  m.def("set_type_attribute", &set_type_attribute);
  m.def("_weak_ref_tensor", &weak_ref);
}

}  // namespace torch_npu
