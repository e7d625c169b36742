#include "bind/storage.h"

#include <torch/csrc/DynamicTypes.h>
#include <torch/csrc/Storage.h>

#include "core/format_clone.h"

namespace torch_npu {
namespace {

namespace py = pybind11;

// None for a storage without a format.
py::object clone(const py::object& object) {
  TORCH_CHECK_TYPE(torch::isStorage(object.ptr()), "expected a storage");
  const c10::Storage& storage = THPStorage_Unpack(object.ptr());
  c10::intrusive_ptr<c10::StorageImpl> made;
  {
    py::gil_scoped_release no_gil;
    made = clone_with_format(*storage.unsafeGetStorageImpl());
  }
  if (made == nullptr) return py::none();
  return py::reinterpret_steal<py::object>(torch::createPyObject(c10::Storage(std::move(made))));
}

// torch.ByteTensor and the like are types in C whose attributes Python code cannot set.
void set_type_attribute(const py::object& type, const py::str& name, const py::object& value) {
  TORCH_CHECK_TYPE(PyType_Check(type.ptr()), "expected a type");
  auto* object = reinterpret_cast<PyTypeObject*>(type.ptr());
  if (PyDict_SetItem(object->tp_dict, name.ptr(), value.ptr()) != 0) throw py::error_already_set();
  PyType_Modified(object);
}

}  // namespace

void bind_storage(py::module_& m) {
  m.def("clone_storage_with_format", &clone);
  m.def("set_type_attribute", &set_type_attribute);
}

}  // namespace torch_npu
