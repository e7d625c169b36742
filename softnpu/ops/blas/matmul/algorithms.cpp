#include "ops/blas/matmul/algorithms.h"

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "base/threads.h"
#include "ops/blas/matmul/split.h"
#include "ops/blas/onednn/cpu.h"
#include "ops/core/dtype.h"
#include "ops/core/tuning/choose.h"

namespace softnpu {
namespace {

Attempt<Implementation> implementation_of(Attempt<Plan> result) {
  if (!result) return Refusal{result.why()};
  const auto plan = std::make_shared<Plan>(*std::move(result));
  Implementation one;
  one.workspace_bytes = plan->workspace_bytes;
  one.fusible = plan->fusible;
  one.run = [plan](char* workspace) { static_cast<void>(plan->run(workspace)); };
  return one;
}

Plan plan_of(const MatmulProblem& problem, Implementation one) {
  Plan plan{one.workspace_bytes, problem.flops(),
            [run = std::move(one.run)](void* workspace) {
              run(static_cast<char*>(workspace));
              return Status::ok();
            },
            [problem] { return describe(problem); }};
  plan.fusible = std::move(one.fusible);
  return plan;
}

void add(const GemmOperand& m, TuningKey* key) {
  key->add(m.dtype, m.rows, m.k, m.row_stride, m.k_stride, m.k_tile, m.k_tile_stride);
  for (const int64_t stride : m.batch_strides) key->add(stride);
}

TuningKey key_of(const MatmulProblem& p, bool is_repeatable) {
  TuningKey key("product");
  key.add(p.batch.size(), p.dtype, p.allows_less, is_repeatable, p.adds, p.b_source.address != nullptr, p.at_once);
  for (const int64_t size : p.batch) key.add(size);
  for (const GemmOperand* m : {&p.a, &p.b, &p.c}) add(*m, &key);
  if (p.adds) add(p.addend, &key);
  key.add(p.alpha.as_double() == 1, p.adds && p.beta.as_double() == 1);
  return key;
}

std::string work_of(const MatmulProblem& p) {
  return text("product ", describe(p), p.allows_less ? ", HF32 allowed" : "", ", threads ", most_threads());
}

bool is_repeatable(const MatmulProblem& p) {
  std::vector<MemoryAccess> read = {memory_of(p.a, p.batch), memory_of(p.b, p.batch)};
  if (p.adds) read.push_back(memory_of(p.addend, p.batch));
  return is_separate(memory_of(p.c, p.batch), read);
}

// Why only the reference can serve the problem: empty sums, factors that need conversion, and results that are
// narrowed. Null if others may: oneDNN's factors may be floating-point of another type, which is converted first.
const char* needs_reference(const MatmulProblem& p) {
  const auto converts = [&](const GemmOperand& m) { return m.dtype != p.dtype; };
  if (p.dtype != ACL_FLOAT && !is_half(p.dtype)) return "it is for float32, float16 and bfloat16";
  if (p.c.dtype != p.dtype && p.c.dtype != ACL_FLOAT) return "the result is narrowed";
  if (p.a.k == 0) return "its sums have no terms";
  if ((converts(p.a) || converts(p.b)) && !(is_floating(p.a.dtype) && is_floating(p.b.dtype))) {
    return "the factors are converted to floating-point numbers";
  }
  const bool fits = onednn_counts({p.a.rows, p.b.rows, p.a.k, p.batch_count()});
  return fits ? nullptr : "a size does not fit into 32 bits";
}

}  // namespace

Plan untimed_product(const MatmulProblem& problem) {
  const auto describe = [&] { return work_of(problem); };
  if (const char* why = needs_reference(problem)) {
    return *serve_by_reference(kProductAlgorithms, problem, why, describe);
  }
  return *first_of(kProductAlgorithms, problem, describe);
}

Plan choose_product(const MatmulProblem& problem) {
  const auto describe = [&] { return work_of(problem); };
  if (const char* why = needs_reference(problem)) {
    return *serve_by_reference(kProductAlgorithms, problem, why, describe);
  }
  MatmulProblem p = problem;
  p.splits = p.allows_less && split_mode() == Split::kAlways;
  p.splits = p.splits && is_split(p);
  const bool is_mixed = p.a.dtype != p.dtype || p.b.dtype != p.dtype;
  const bool is_timed = p.dtype == ACL_FLOAT && !is_mixed && !p.splits && Tuner::is_on(p.flops());
  if (!is_timed) return *first_of(kProductAlgorithms, p, describe);
  // It is small, or bound by memory: nothing is faster.
  if (Attempt<Plan> direct = plan_direct_matmul(p)) {
    if (AlgorithmLog::is_on()) AlgorithmLog::get().add(describe(), kProductAlgorithms.front().name, {});
    return *std::move(direct);
  }
  const std::vector<Offer> offers = offers_of(kProductAlgorithms, p, &implementation_of);
  const bool repeats = is_repeatable(p);
  const TunedWork work{repeats, key_of(p, repeats), describe};
  return plan_of(p, *choose_implementation(work, offers));
}

}  // namespace softnpu
