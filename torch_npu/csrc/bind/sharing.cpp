#include "bind/sharing.h"

#include <torch/csrc/DynamicTypes.h>
#include <torch/csrc/Storage.h>

#include "core/sharing.h"

namespace torch_npu {
namespace {

namespace py = pybind11;

const c10::Storage& storage_of(const py::handle& object) {
  TORCH_CHECK_TYPE(torch::isStorage(object.ptr()), "expected a storage");
  return THPStorage_Unpack(object.ptr());
}

py::tuple share(const py::object& storage) {
  const c10::Storage& shared_by_python = storage_of(storage);
  StorageTicket shared;
  {
    py::gil_scoped_release no_gil;
    shared = share_storage(shared_by_python);
  }
  return py::make_tuple(static_cast<int>(shared.device), py::bytes(shared.key), shared.nbytes, shared.offset,
                        py::bytes(shared.sender), shared.user);
}

py::object open(int device, const std::string& key, std::size_t nbytes, std::size_t offset, const std::string& sender,
                std::uint64_t user) {
  c10::Storage storage;
  {
    py::gil_scoped_release no_gil;
    storage = open_shared_storage({static_cast<c10::DeviceIndex>(device), key, nbytes, offset, sender, user});
  }
  return py::reinterpret_steal<py::object>(torch::createPyObject(storage));
}

}  // namespace

void bind_sharing(py::module_& m) {
  using release_gil = py::call_guard<py::gil_scoped_release>;
  m.def("share_storage", &share);
  m.def("open_shared_storage", &open);
  m.def(
      "release_shared",
      [](const std::string& sender, std::uint64_t user) {
        StorageTicket shared;
        shared.sender = sender;
        shared.user = user;
        release_shared(shared);
      },
      release_gil());
  m.def("ipc_collect", &collect_shared, release_gil());
  m.def("close_shared", &close_shared, release_gil());
}

}  // namespace torch_npu
