#include "ops/math/random/draw.h"

#include <memory>

#include "base/round.h"
#include "base/text.h"
#include "ops/core/describe.h"
#include "ops/core/dtype.h"
#include "workers/parallel.h"

namespace softnpu {
namespace {

// The cost of one number in the operations of threads_for.
constexpr double kFlopsPerNumber = 64;
constexpr int64_t kMaxWords = 4;

struct Task {
  RandomSource source;
  Distribution distribution;
  Tiles tiles;
  int threads = 1;

  // Each number depends only on its position.
  void run() const {
    const PhiloxSequence sequence = source.sequence();
    const int64_t words = distribution.words_per_element;
    parallel_for(tiles.count(), Tiles::kGrain, threads, [&](int64_t first, int64_t last) {
      alignas(64) uint32_t numbers[kMaxWords * Tiles::kTile];
      tiles.run(first, last, [&](int64_t at, void* const* values, size_t count) {
        const auto wanted = round_up(count, kNumbersPerBlock) * static_cast<size_t>(words);
        sequence.fill(static_cast<uint64_t>(at * words) / kNumbersPerBlock, wanted / kNumbersPerBlock, numbers);
        distribution.make(numbers, values, count);
      });
    });
  }
};

}  // namespace

Status plan_draw(const RandomSeed& seed, const aclTensor& out, std::span<const aclTensor* const> parameters,
                 Distribution distribution, Plan* plan) {
  auto task = std::make_shared<Task>();
  SOFTNPU_RETURN_IF_ERROR(RandomSource::make(seed, &task->source));
  std::vector<const aclTensor*> tensors = {&out};
  std::vector<Tiles::Use> uses = {{distribution.as, Tiles::Access::kWrite}};
  for (const aclTensor* parameter : parameters) {
    if (!is_known(parameter->dtype) || is_complex(parameter->dtype)) {
      return {ACLNN_ERR_PARAM_INVALID, text("a parameter is ", describe(*parameter), "; real numbers are taken")};
    }
    tensors.push_back(parameter);
    uses.push_back({distribution.as, Tiles::Access::kRead});
  }
  Space space;
  SOFTNPU_RETURN_IF_ERROR(Space::make(tensors, 1, &space));
  task->tiles = Tiles(std::move(space), uses, Tiles::Length::kWhole);  // numbers come in blocks
  const double cost = kFlopsPerNumber * static_cast<double>(task->tiles.count() * distribution.words_per_element);
  task->distribution = std::move(distribution);
  task->threads = threads_for(cost);
  plan->work = cost;
  plan->describe = describe_later({&out});
  plan->run = [task = std::shared_ptr<const Task>(std::move(task))](void*) {
    task->run();
    return Status::ok();
  };
  return Status::ok();
}

}  // namespace softnpu
