#include "op_compiler/compile_cache.h"

#include <atomic>
#include <string>

#include "base/log.h"
#include "base/lru_cache.h"
#include "base/no_destroy.h"
#include "base/text.h"
#include "nnopbase/operator_library.h"
#include "op_compiler/compile_options.h"
#include "op_compiler/operator_models.h"
#include "op_compiler/read_call.h"

namespace softnpu {
namespace {

constexpr size_t kCapacity = 1024;

struct CompileCache {
  LruCache<std::string, CompiledOperator> operators{kCapacity};
  std::atomic<uint64_t> compiled{0};
  std::atomic<uint64_t> reused{0};
};

CompileCache& cache() {
  static NoDestroy<CompileCache> instance;
  return instance.get();
}

}  // namespace

Status compiled_operator(const RegistryCall& call, std::shared_ptr<const CompiledOperator>* out) {
  OperatorLibrary operators;
  SOFTNPU_RETURN_IF_ERROR(load_operators(&operators));
  Status status;
  bool result = false;
  *out = cache().operators.get(key_of(call), [&] {
    result = true;
    std::shared_ptr<const CompiledOperator> compiled;
    operators.compile(&call, &compiled, &status);
    return compiled;
  });
  if (*out != nullptr) ++(result ? cache().compiled : cache().reused);
  if (result && *out != nullptr) {
    const CacheFiles files = compile_cache_files();
    const Status written =
        files.folder.empty() ? Status::ok() : write_operator_model(call, files.folder, files.is_forced);
    if (!written.is_ok()) log(ACL_WARNING, "op_compiler", text("the cache of compiled operators: ", written.message()));
  }
  if (result && log_enabled(ACL_INFO, "op_compiler")) {
    log(ACL_INFO, "op_compiler", text("operator type ", call.type, status.is_ok() ? " compiled" : " refused"));
  }
  return status;
}

Status inferred_outputs(RegistryCall* call) {
  OperatorLibrary operators;
  SOFTNPU_RETURN_IF_ERROR(load_operators(&operators));
  Status status;
  operators.infer_outputs(call, &status);
  return status;
}

softnpuCompileStatistics compile_statistics() { return {cache().compiled, cache().reused, cache().operators.size()}; }

}  // namespace softnpu
