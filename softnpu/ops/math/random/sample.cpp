#include "ops/math/random/sample.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

#include "base/text.h"
#include "nnopbase/call_site.h"
#include "ops/core/convert/element_rows.h"
#include "ops/core/describe.h"
#include "ops/core/dtype.h"
#include "ops/core/tensor_memory.h"
#include "ops/math/random/draw.h"
#include "workers/parallel.h"

namespace softnpu {
namespace {

// A stream of 64-bit numbers; computes one Philox block at a time.
class Numbers {
 public:
  explicit Numbers(const PhiloxSequence& sequence) : sequence_(sequence) {}
  uint64_t next() {
    if (used_ == kWords) {
      sequence_.fill(block_, kWords / kNumbersPerBlock, words_);
      block_ += kWords / kNumbersPerBlock;
      used_ = 0;
    }
    used_ += 2;
    return two_words(words_ + used_ - 2);
  }

 private:
  static constexpr size_t kWords = 1024;
  PhiloxSequence sequence_;
  uint64_t block_ = 0;
  size_t used_ = kWords;
  alignas(64) uint32_t words_[kWords];
};

// A row of elements in memory.
struct Row {
  char* data = nullptr;
  ptrdiff_t stride = 0;  // in bytes
};

struct Multinomial {
  RandomSource source;
  Row from, to;
  ptrdiff_t from_row = 0, to_row = 0;  // distances between rows, in bytes
  int64_t rows = 1, categories = 0, samples = 0;
  bool replacement = false;
  ElementReader reader;
  ElementWriter writer;

  // For the weights of a row, and for indices if samples must be distinct.
  Checked workspace_bytes() const { return checked(categories) * (sizeof(double) + sizeof(int64_t)); }

  Status run(void* workspace) const {
    auto* weights = static_cast<double*>(workspace);
    auto* order = reinterpret_cast<int64_t*>(weights + categories);
    Numbers numbers(source.sequence());
    for (int64_t row = 0; row < rows; ++row) {
      reader.read(from.data + row * from_row, from.stride, static_cast<size_t>(categories), weights);
      SOFTNPU_RETURN_IF_ERROR(check(row, weights));
      if (replacement) {
        draw_with_replacement(row, weights, &numbers);
      } else {
        draw_distinct(row, weights, order, &numbers);
      }
    }
    return Status::ok();
  }

  Status check(int64_t row, const double* weights) const {
    int64_t possible = 0;
    for (int64_t i = 0; i < categories; ++i) {
      if (!(weights[i] >= 0) || std::isinf(weights[i])) {
        return {ACLNN_ERR_PARAM_INVALID, text("row ", row, " has the probability ", weights[i], " at ", i)};
      }
      possible += weights[i] > 0 ? 1 : 0;
    }
    if (possible >= (replacement ? std::min<int64_t>(samples, 1) : samples)) return Status::ok();
    return {ACLNN_ERR_PARAM_INVALID, text("row ", row, " has ", possible, " probabilities above 0 for ", samples,
                                          replacement ? " samples" : " samples that differ")};
  }

  void put(int64_t row, int64_t sample, int64_t index) const {
    writer.write(&index, 1, to.data + row * to_row + sample * to.stride, 0);
  }

  void draw_with_replacement(int64_t row, double* weights, Numbers* numbers) const {
    std::partial_sum(weights, weights + categories, weights);
    const double all = weights[categories - 1];
    // The last index with a positive weight: rounding may lead past the end.
    const int64_t last = std::lower_bound(weights, weights + categories, all) - weights;
    for (int64_t i = 0; i < samples; ++i) {
      const double at = unit(numbers->next()) * all;
      put(row, i, std::min<int64_t>(std::upper_bound(weights, weights + categories, at) - weights, last));
    }
  }

  // Selects the first arrivals, where index i arrives after an exponential time of rate weights[i].
  void draw_distinct(int64_t row, double* weights, int64_t* order, Numbers* numbers) const {
    for (int64_t i = 0; i < categories; ++i) {
      const double time = -std::log(open_unit(numbers->next()));
      weights[i] = weights[i] > 0 ? time / weights[i] : std::numeric_limits<double>::infinity();
    }
    std::iota(order, order + categories, int64_t{0});
    std::partial_sort(order, order + samples, order + categories, [&](int64_t a, int64_t b) {
      return weights[a] < weights[b] || (weights[a] == weights[b] && a < b);
    });
    for (int64_t i = 0; i < samples; ++i) put(row, i, order[i]);
  }
};

Status bad(std::string message) { return {ACLNN_ERR_PARAM_INVALID, std::move(message)}; }

}  // namespace

Status permutation(int64_t n, const RandomSeed& seed, const aclTensor& out, Plan* plan) {
  if (n < 0 || out.dims.size() != 1 || out.dims[0] != n) {
    return bad(text("out is ", describe(out), " where ", n, " numbers are put in order"));
  }
  if (!is_known(out.dtype) || is_complex(out.dtype))
    return bad(text("out is ", describe(out), "; real types are taken"));
  RandomSource source;
  SOFTNPU_RETURN_IF_ERROR(RandomSource::make(seed, &source));
  void* data = nullptr;
  SOFTNPU_RETURN_IF_ERROR(tensor_memory(out, "out", &data));
  const ptrdiff_t stride = n > 0 ? out.strides[0] * static_cast<ptrdiff_t>(aclDataTypeSize(out.dtype)) : 0;
  plan->workspace_bytes = checked(n) * sizeof(int64_t);
  plan->work = static_cast<double>(n) * 64;
  plan->describe = describe_later({&out});
  // Durstenfeld, 1964: the last position gets any number, the one before it any of the others.
  plan->run = [=, writer = ElementWriter(ACL_INT64, out.dtype)](void* workspace) {
    auto* values = static_cast<int64_t*>(workspace);
    std::iota(values, values + n, int64_t{0});
    Numbers numbers(source.sequence());
    for (int64_t i = n - 1; i > 0; --i) {
      std::swap(values[i], values[below(numbers.next(), static_cast<uint64_t>(i) + 1)]);
    }
    if (n > 0) writer.write(values, static_cast<size_t>(n), data, stride);
    return Status::ok();
  };
  return Status::ok();
}

Status multinomial(const aclTensor& self, int64_t num_samples, bool replacement, const RandomSeed& seed,
                   const aclTensor& out, Plan* plan) {
  const size_t n = self.dims.size();
  if (n < 1 || n > 2) return bad(text("self is ", describe(self), "; one or two dimensions are taken"));
  if (!is_known(self.dtype) || !is_floating(self.dtype))
    return bad(text("self is ", describe(self), "; floating-point types are taken"));
  Dims wanted = self.dims;
  wanted.back() = num_samples;
  if (num_samples <= 0 || !(out.dims == wanted)) {
    return bad(text("out is ", describe(out), " for ", num_samples, " samples of ", describe(self)));
  }
  if (out.dtype != ACL_INT64 && out.dtype != ACL_INT32)
    return bad(text("out is ", describe(out), "; int64 and int32 are taken"));
  auto task = std::make_shared<Multinomial>();
  task->categories = self.dims.back();
  if (task->categories == 0) return bad(text("self is ", describe(self), ": there is nothing to choose from"));
  if (!replacement && num_samples > task->categories) {
    return bad(text(num_samples, " samples cannot differ where there are ", task->categories, " to choose from"));
  }
  SOFTNPU_RETURN_IF_ERROR(RandomSource::make(seed, &task->source));
  void* from = nullptr;
  void* to = nullptr;
  SOFTNPU_RETURN_IF_ERROR(tensor_memory(self, "self", &from));
  SOFTNPU_RETURN_IF_ERROR(tensor_memory(out, "out", &to));
  const auto from_size = static_cast<ptrdiff_t>(aclDataTypeSize(self.dtype));
  const auto to_size = static_cast<ptrdiff_t>(aclDataTypeSize(out.dtype));
  task->from = {static_cast<char*>(from), self.strides.back() * from_size};
  task->to = {static_cast<char*>(to), out.strides.back() * to_size};
  if (n == 2) {
    task->rows = self.dims[0];
    task->from_row = self.strides[0] * from_size;
    task->to_row = out.strides[0] * to_size;
  }
  task->samples = num_samples;
  task->replacement = replacement;
  task->reader = ElementReader(self.dtype, ACL_DOUBLE);
  task->writer = ElementWriter(ACL_INT64, out.dtype);
  plan->workspace_bytes = task->workspace_bytes();
  plan->work =
      static_cast<double>(task->rows) * (static_cast<double>(task->categories) + static_cast<double>(num_samples)) * 64;
  plan->describe = with_call_site(describe_later({&self}));
  plan->run = [task = std::shared_ptr<const Multinomial>(std::move(task))](void* workspace) {
    return task->run(workspace);
  };
  return Status::ok();
}

}  // namespace softnpu
