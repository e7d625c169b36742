#include "ops/matmul/candidates.h"

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "base/threads.h"
#include "ops/matmul/direct.h"
#include "ops/matmul/onednn.h"
#include "ops/matmul/panels.h"
#include "ops/matmul/split.h"
#include "ops/tuning/choose.h"

namespace softnpu {
namespace {

// Packed weights serve float32 products of fewer rows (onednn.cpp). A comparison would come before they are packed.
constexpr int64_t kLeastSplitRows = 513;

std::optional<Implementation> implementation_of(std::optional<Plan> made) {
  if (!made) return std::nullopt;
  const auto plan = std::make_shared<Plan>(*std::move(made));
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

}  // namespace

Plan choose_product(const MatmulProblem& problem) {
  const bool is_mixed = problem.a.dtype != problem.dtype || problem.b.dtype != problem.dtype;
  if (is_mixed) return plan_onednn_matmul(problem);
  std::optional<MatmulProblem> in_parts;
  if (problem.allows_less && split_mode() != Split::kNever) {
    in_parts = problem;
    in_parts->splits = true;
    if (!is_split(*in_parts)) in_parts.reset();
  }
  if (in_parts && split_mode() == Split::kAlways) return plan_onednn_matmul(*in_parts);
  if (std::optional<Plan> direct = plan_direct_matmul(problem)) return *std::move(direct);
  if (problem.dtype != ACL_FLOAT || !Tuner::is_on(problem.flops())) {
    if (std::optional<Plan> panels = plan_panel_matmul(problem)) return *std::move(panels);
    return plan_onednn_matmul(problem);
  }
  std::vector<Offer> offers = {
      {"panels", [&] { return implementation_of(plan_panel_matmul(problem)); }},
      {"oneDNN", [&] { return implementation_of(plan_onednn_matmul(problem)); }},
      {"oneDNN, a thread for each matrix", [&] { return implementation_of(plan_matrices_apart(problem)); }},
  };
  const bool packs = problem.batch.empty() && problem.b_source.address != nullptr && problem.a.rows < kLeastSplitRows;
  if (in_parts && !packs) {
    offers.push_back({"bfloat16 products", [&] { return implementation_of(plan_onednn_matmul(*in_parts)); }, true});
  }
  const bool repeats = is_repeatable(problem);
  const TunedWork work{repeats, key_of(problem, repeats), [&] { return work_of(problem); }};
  return plan_of(problem, *choose_implementation(work, offers));
}

}  // namespace softnpu
