#include "ops/blas/onednn/engine.h"

#include <stdexcept>

#include "base/no_destroy.h"
#include "base/threads.h"
#include "nnopbase/plan.h"
#include "softnpu/softnpu.h"
#include "workers/openmp.h"
#include "workers/workers.h"

namespace softnpu {
namespace {

// oneDNN accepts a limit only before its first primitive. This copy of oneDNN is softnpu's: torch's is not affected.
void limit_instructions() {
  dnnl::cpu_isa most = dnnl::cpu_isa::isa_default;
  switch (softnpuGetCpuCapability()) {
    case SOFTNPU_CPU_DEFAULT: return;
    case SOFTNPU_CPU_AVX2: most = dnnl::cpu_isa::avx2; break;
    case SOFTNPU_CPU_AVX512: most = dnnl::cpu_isa::avx512_core; break;
  }
  if (dnnl::set_max_cpu_isa(most) != dnnl::status::success) {
    throw std::runtime_error("SOFTNPU_CPU_CAPABILITY has no effect: this oneDNN takes no limit of its instructions");
  }
}

}  // namespace

const dnnl::engine& onednn_engine() {
  static NoDestroy<dnnl::engine> engine = [] {
    limit_instructions();
    return NoDestroy<dnnl::engine>(dnnl::engine::kind::cpu, size_t{0});
  }();
  return engine.get();
}

dnnl::stream& onednn_stream() {
  thread_local dnnl::stream stream(onednn_engine());
  return stream;
}

ThreadScope::ThreadScope(int threads) : previous_(exchange_openmp_threads(threads)) {
  if (reserve_workers(threads - 1)) return;
  exchange_openmp_threads(previous_);
  throw std::runtime_error("the threads for the device's cores cannot be started");
}
ThreadScope::~ThreadScope() { exchange_openmp_threads(previous_); }

int onednn_threads(double flops) { return flops < kSmallWork ? 1 : most_threads(); }

}  // namespace softnpu
