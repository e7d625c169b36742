// torch_npu._C: the functions that Python needs in addition to PyTorch's generic interfaces. Each function is one call.

#include <acl/acl.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <sys/syscall.h>
#include <torch/csrc/Device.h>
#include <torch/csrc/Generator.h>
#include <torch/csrc/python_headers.h>
#include <torch/csrc/utils/pybind.h>
#include <unistd.h>

#include "aten/aicpu/copying.h"
#include "aten/custom/wrong_device.h"
#include "aten/nondeterministic.h"
#include "bind/alias.h"
#include "bind/built_graph.h"
#include "bind/distributed.h"
#include "bind/kernel.h"
#include "bind/memory.h"
#include "bind/program_lines.h"
#include "bind/python_line.h"
#include "bind/runtime.h"
#include "bind/script_function.h"
#include "bind/sharing.h"
#include "bind/storage.h"
#include "core/acl.h"
#include "core/aclnn.h"
#include "core/autograd_threads.h"
#include "core/call_site.h"
#include "core/cuda_redirect.h"
#include "core/device.h"
#include "core/generator.h"
#include "core/op_hooks.h"
#include "core/options.h"
#include "core/overflow.h"
#include "core/route_stats.h"
#include "core/stream.h"
#include "core/sync_debug.h"
#include "core/task_queue.h"
#include "core/tuned_works.h"
#include "core/wait.h"

namespace torch_npu {
namespace {

namespace py = pybind11;

// `package` is an aclCANNPackageName.
std::string cann_version(int package) {
  aclCANNPackageVersion version;
  acl_check(aclsysGetCANNVersion(static_cast<aclCANNPackageName>(package), &version), "aclsysGetCANNVersion");
  return version.version;
}

// "softnpu <version>"; empty on a real CANN.
std::string softnpu_version() {
  auto function = reinterpret_cast<const char* (*)()>(bound_symbol("softnpuVersion"));
  return function == nullptr ? "" : function();
}

py::tuple bound_device_range(c10::DeviceIndex device) {
  bind_device(device);
  TORCH_CHECK(is_host_addressable(), "only softnpu tells a device's address range");
  auto [base, size] = device_range(device);
  return py::make_tuple(reinterpret_cast<std::uintptr_t>(base), size);
}

// A list of (operator, route, kernel, is a composite, calls, total ns, own ns).
py::list counted_routes() {
  py::list rows;
  for (const route_stats::Row& row : route_stats::stop()) {
    rows.append(py::make_tuple(row.op, static_cast<int>(row.route), row.kernel, row.calls_others, row.calls,
                               row.total_ns, row.self_ns));
  }
  return rows;
}

// (work, uses, chosen, ((candidate, microseconds), ...))
py::list listed_tuned_works() {
  py::list works;
  for (const TunedWork& work : tuned_works()) {
    py::list candidates;
    for (const auto& [name, us] : work.candidates) candidates.append(py::make_tuple(name, us));
    works.append(py::make_tuple(work.work, work.uses, work.chosen, py::tuple(candidates)));
  }
  return works;
}

// (work, algorithm, uses, ((refused row, why), ...))
py::list listed_served_works() {
  py::list works;
  for (const ServedWork& work : served_works()) {
    py::list refused;
    for (const auto& [name, why] : work.refused) refused.append(py::make_tuple(name, why));
    works.append(py::make_tuple(work.work, work.algorithm, work.uses, py::tuple(refused)));
  }
  return works;
}

// (table, row, is timed)
py::list listed_algorithms() {
  py::list rows;
  for (const AlgorithmRow& row : algorithm_rows()) rows.append(py::make_tuple(row.table, row.name, row.is_timed));
  return rows;
}

// Throws the exception of a signal's handler (KeyboardInterrupt). Handlers run only on the main thread.
void check_signals() {
  if (syscall(SYS_gettid) != getpid() || Py_IsInitialized() == 0) return;
  const py::gil_scoped_acquire gil;
  if (PyErr_CheckSignals() != 0) throw py::error_already_set();
}

}  // namespace

PYBIND11_MODULE(_C, m) {
  using release_gil = py::call_guard<py::gil_scoped_release>;
  m.def("device_count", [] { return static_cast<int>(device_count()); });
  m.def("device_count_error", &device_count_error);
  m.def(
      "init", [] { bind_device(current_device()); }, release_gil());
  m.def("is_initialized", &is_initialized);
  m.def("in_bad_fork", &in_bad_fork);
  m.def("current_device", [] { return static_cast<int>(current_device()); });
  m.def(
      "set_device", [](int device) { set_device(static_cast<c10::DeviceIndex>(device)); }, release_gil());
  m.def(
      "synchronize", [](int device) { wait_for_all_work(static_cast<c10::DeviceIndex>(device)); }, release_gil());
  set_interrupt_check(&check_signals);
  set_python_line(&python_line);
  refuse_cpu_tensors();
  alert_of_nondeterminism();
  // The error of failed work that was never waited for; the process then exits with an error.
  m.def(
      "shutdown",
      [] {
        shutdown();
        return take_final_failure();
      },
      release_gil());
  m.def("wait_for_autograd_threads", &wait_for_autograd_threads, release_gil());
  m.def("soc_name", [] { return std::string(aclrtGetSocName()); });
  m.def("cann_version", &cann_version, py::arg("package") = static_cast<int>(ACL_PKG_NAME_CANN));
  m.def("softnpu_version", &softnpu_version);
  m.def("device_range", &bound_device_range);
  m.def("aclnn_launches", &aclnn_launches);
  m.def("aclnn_refusals", &aclnn_refusals);
  m.def("synchronizations", &synchronizations);
  m.def("enable_op_hooks", &op_hooks::enable);
  m.def("set_overflow_check", [](int check) { set_overflow_check(static_cast<OverflowCheck>(check)); });
  m.def(
      "overflow_flag", [](int device) { return overflow_flag(static_cast<c10::DeviceIndex>(device)); }, release_gil());
  m.def(
      "clear_overflow_flag", [](int device) { clear_overflow_flag(static_cast<c10::DeviceIndex>(device)); },
      release_gil());
  m.def("sync_debug_mode", &sync_debug_mode);
  m.def("set_sync_debug_mode", &set_sync_debug_mode);
  m.def("start_counting_routes", &route_stats::start);
  m.def("stop_counting_routes", &counted_routes);
  m.def("tuned_works", &listed_tuned_works);
  m.def("log_algorithms", &log_algorithms, py::arg("on"));
  m.def("served_works", &listed_served_works);
  m.def("algorithms", &listed_algorithms);
  m.def("cube_math_type", [] { return static_cast<int>(cube_math_type()); });
  m.def("set_cube_math_type", &set_cube_math_type);
  m.def("conv_allow_hf32", [] { return conv_cube_math_type() != 0; });
  m.def("set_conv_allow_hf32", &set_conv_allow_hf32);
  m.def("set_operator_timeout", [](int64_t ms) {
    bind_device(current_device());
    set_operator_timeout(ms);
  });
  m.def("jit_compile", &jit_compile);
  m.def("set_jit_compile", &set_jit_compile);
  m.def("allow_internal_format", &allow_internal_format);
  m.def("set_allow_internal_format", &set_allow_internal_format);
  m.def("task_queue_level", &task_queue_level);
  m.def("set_task_queue_level", &set_task_queue_level, release_gil());
  m.def("set_cuda_redirect", &set_cuda_redirect);
  m.def("copies_arguments", &aicpu::copies_arguments);
  m.def("set_copies_arguments", &aicpu::set_copies_arguments);

  // torch.Event.elapsed_time does not accept a subclass of torch.Event, so torch.npu.Event uses this. Ids are handles.
  m.def("elapsed_time", [](std::intptr_t start, std::intptr_t end) {
    const auto* guard = c10::impl::getDeviceGuardImpl(c10::DeviceType::PrivateUse1);
    return guard->elapsedTime(reinterpret_cast<void*>(start), reinterpret_cast<void*>(end), current_device());
  });

  m.def("stream_priority", [](int device, std::int64_t id) {
    return stream_priority(npu_stream(static_cast<c10::DeviceIndex>(device), id));
  });
  m.attr("GREATEST_STREAM_PRIORITY") = kGreatestPriority;

  bind_alias(m);
  bind_distributed(m);
  bind_kernels(m);
  bind_graph(m);
  bind_built_graphs(m);
  bind_mem_pool(m);
  bind_memory(m);
  bind_program_lines(m);
  bind_runtime(m);
  bind_script_function(m);
  bind_sharing(m);
  bind_storage(m);

  m.def("default_generator", [](int device) {
    return py::reinterpret_steal<py::object>(
        THPGenerator_initDefaultGenerator(default_generator(static_cast<c10::DeviceIndex>(device))));
  });
}

}  // namespace torch_npu
