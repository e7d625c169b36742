#include "bind/script_function.h"

#include <torch/csrc/jit/api/compilation_unit.h>
#include <torch/csrc/jit/api/function_impl.h>

namespace torch_npu {
namespace {

// A function is compiled from a copy of its graph at its first call. Compiles it once more, after the graph changed.
// Not thread-safe: no other thread calls the function meanwhile.
void recompile(const torch::jit::StrongFunctionPtr& function) {
  auto& compiled = torch::jit::toGraphFunction(*function.function_);
  compiled.clear_optimized_graphs();
  compiled.get_executor() = torch::jit::GraphExecutor(compiled.optimized_graph(), compiled.name());
}

}  // namespace

void bind_script_function(pybind11::module_& m) { m.def("recompile_function", &recompile); }

}  // namespace torch_npu
