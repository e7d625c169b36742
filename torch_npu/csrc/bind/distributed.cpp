#include "bind/distributed.h"

#include <pybind11/chrono.h>
#include <pybind11/stl.h>
#include <torch/csrc/Device.h>

#include <memory>
#include <utility>

#include "core/device.h"
#include "distributed/hccl.h"
#include "distributed/process_group.h"

namespace torch_npu {
namespace {

namespace py = pybind11;
using release_gil = py::call_guard<py::gil_scoped_release>;
using Group = ProcessGroupHCCL;

c10::intrusive_ptr<HcclOptions> copy_of(const HcclOptions& options) {
  return c10::make_intrusive<HcclOptions>(options);
}

c10::DeviceIndex index_of(c10::Device device) { return device.has_index() ? device.index() : current_device(); }

c10::intrusive_ptr<Group> make_group(const c10::intrusive_ptr<c10d::Store>& store, int rank, int size,
                                     std::chrono::milliseconds timeout) {
  auto options = c10::make_intrusive<HcclOptions>();
  options->timeout = timeout;
  return c10::make_intrusive<Group>(store, rank, size, std::move(options));
}

// The official plug-in's first argument, a rank: the device is the current one.
std::string comm_name(Group& group, int rank, const py::args&, const py::kwargs& named) {
  TORCH_CHECK_VALUE(rank >= 0, "Invalid rank ", rank);
  const bool connects = !named.contains("init_comm") || py::cast<bool>(named["init_comm"]);
  const py::gil_scoped_release no_gil;
  return group.comm_name(current_device(), connects);
}

int64_t stream_id(Group& group, bool p2p, int peer) {
  TORCH_CHECK_VALUE(!p2p || peer >= 0, "the stream to a peer needs its rank, got ", peer);
  return (p2p ? group.stream_of(current_device(), peer, false) : group.stream_of(current_device())).id();
}

void bind_options(const py::object& scope, const py::object& base) {
  py::class_<HcclOptions, c10::intrusive_ptr<HcclOptions>>(scope, "Options", base)
      .def(py::init(
               [](bool is_high_priority_stream) { return c10::make_intrusive<HcclOptions>(is_high_priority_stream); }),
           py::arg("is_high_priority_stream") = false)
      .def_property(
          "op_timeout", [](const HcclOptions& options) { return options.operation_timeout(); },
          [](HcclOptions& options, std::chrono::milliseconds timeout) { options.op_timeout = timeout; })
      .def_readwrite("is_high_priority_stream", &HcclOptions::is_high_priority_stream)
      .def_readwrite("hccl_config", &HcclOptions::hccl_config)
      .def_readwrite("group_id", &HcclOptions::group_id)
      .def("__copy__", &copy_of)
      .def("__deepcopy__", [](const HcclOptions& options, const py::dict&) { return copy_of(options); });
}

void bind_group(py::module_& m, const py::module_& c10d_module) {
  py::class_<Group, c10::intrusive_ptr<Group>> group(m, "ProcessGroupHCCL", c10d_module.attr("Backend"));
  bind_options(group, c10d_module.attr("Backend").attr("Options"));
  group
      .def(py::init([](const c10::intrusive_ptr<c10d::Store>& store, int rank, int size,
                       const c10::intrusive_ptr<HcclOptions>& options) {
             return c10::make_intrusive<Group>(store, rank, size, copy_of(*options));
           }),
           py::arg("store"), py::arg("rank"), py::arg("size"), py::arg("options"), release_gil())
      .def(py::init(&make_group), py::arg("store"), py::arg("rank"), py::arg("size"),
           py::arg("timeout") = kBackendDefaultTimeout, release_gil())
      .def_property_readonly("options", &Group::options)
      .def("get_hccl_comm_name", &comm_name)
      .def(
          "get_hccl_comm", [](Group& self, int) { return self.comm_address(current_device()); }, release_gil())
      .def("_get_stream_id", &stream_id, py::arg("p2p") = false, py::arg("peer") = -1)
      .def(
          "get_coll_stream_id", [](Group& self, c10::Device device) { return self.stream_of(index_of(device)).id(); },
          py::arg("device"))
      .def(
          "get_p2p_stream_id",
          [](Group& self, c10::Device device, int peer, int) {
            return self.stream_of(index_of(device), peer, false).id();
          },
          py::arg("device"), py::arg("peer"), py::arg("is_batched"))
      .def(
          "batch_isend_irecv",
          [](Group& self, const std::vector<std::string>& kinds, std::vector<at::Tensor> tensors,
             const std::vector<int64_t>& ranks) { return self.batch_isend_irecv(kinds, tensors, ranks); },
          py::arg("op_type"), py::arg("tensors"), py::arg("remote_rank_list"), release_gil())
      .def("reduce_scatter_tensor_uneven", &Group::reduce_scatter_uneven, py::arg("output"), py::arg("input"),
           py::arg("input_split_sizes") = std::vector<int64_t>{}, py::arg("opts") = c10d::ReduceScatterOptions(),
           release_gil())
      .def("all_gather_into_tensor_uneven", &Group::allgather_uneven, py::arg("output"), py::arg("input"),
           py::arg("output_split_sizes") = std::vector<int64_t>{}, py::arg("opts") = c10d::AllgatherOptions(),
           release_gil())
      .def("alltoallvc", &Group::alltoallvc, py::arg("output"), py::arg("input"), py::arg("send_count_matrix"),
           py::arg("opts") = c10d::AllToAllOptions(), release_gil())
      .def(
          "abort_hccl_comm",
          [](Group& self, const std::optional<std::string>& reason) {
            self.reset_communicators(reason.value_or("abort_hccl_comm was called"));
          },
          py::arg("reason") = py::none(), release_gil())
      .def("_set_default_timeout", &Group::setTimeout, py::arg("timeout"), release_gil());
}

}  // namespace

void bind_distributed(py::module_& m) {
  // torch.distributed has made its own module by then.
  m.def("_c10d_npu_init", [m] {
    py::module_ parent = m;
    py::module_ result = parent.def_submodule("_distributed_c10d", "torch.distributed's backend hccl");
    bind_group(result, py::module_::import("torch._C._distributed_c10d"));
    result.def("hccl_calls", &hccl_calls);
    result.def("end_process_groups", &end_process_groups, release_gil());
    py::module_::import("sys").attr("modules")["torch_npu._C._distributed_c10d"] = result;
  });
}

}  // namespace torch_npu
