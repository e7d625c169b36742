#include "ops/math/random/dropout.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "base/text.h"
#include "ops/core/convert/element_rows.h"
#include "ops/core/describe.h"
#include "ops/core/dtype.h"
#include "ops/core/tensor_memory.h"
#include "workers/parallel.h"

namespace softnpu {
namespace {

constexpr double kFlopsPerElement = 32;
constexpr int64_t kBits = 8;
// Elements per piece, independent of the number of threads.
constexpr int64_t kGrain = 1 << 14;
constexpr int64_t kTile = 512;

Status check_probability(double prob) {
  if (prob >= 0 && prob <= 1) return Status::ok();
  return {ACLNN_ERR_PARAM_INVALID, text("prob is ", prob, ", not between 0 and 1")};
}

Status mask_memory(const aclTensor& mask, int64_t count, uint8_t** out) {
  if (mask.dtype != ACL_UINT8 || !is_dense(mask)) {
    return {ACLNN_ERR_PARAM_INVALID, text("mask is ", describe(mask), "; uint8 without gaps is taken")};
  }
  if (element_count(mask) < (count + kBits - 1) / kBits) {
    return {ACLNN_ERR_PARAM_INVALID,
            text("mask has ", element_count(mask), " bytes, too few for ", count, " elements")};
  }
  void* data = nullptr;
  SOFTNPU_RETURN_IF_ERROR(tensor_memory(mask, "mask", &data));
  *out = static_cast<uint8_t*>(data);
  return Status::ok();
}

// Writes the mask's bytes for elements [first, last); `first` is a multiple of eight. Element i uses number i of the
// sequence.
void draw_bits(const PhiloxSequence& sequence, uint64_t drop, int64_t first, int64_t last, uint8_t* mask) {
  alignas(64) uint32_t words[kTile];
  for (int64_t at = first; at < last; at += kTile) {
    const int64_t here = std::min(kTile, last - at);
    const int64_t bytes = (here + kBits - 1) / kBits;
    sequence.fill(static_cast<uint64_t>(at) / kNumbersPerBlock, static_cast<uint64_t>(bytes * kBits) / kNumbersPerBlock,
                  words);
    for (int64_t i = 0; i < bytes; ++i) {
      unsigned byte = 0;
      for (int64_t bit = 0; bit < kBits; ++bit) byte |= (words[i * kBits + bit] >= drop ? 1u : 0u) << bit;
      const int64_t used = std::min(kBits, here - i * kBits);
      mask[at / kBits + i] = static_cast<uint8_t>(byte & ((1u << used) - 1));
    }
  }
}

struct MaskTask {
  RandomSource source;
  uint64_t drop = 0;  // out of 2^32
  int64_t count = 0;
  int64_t bytes = 0;
  uint8_t* mask = nullptr;
  int threads = 1;

  void run() const {
    const PhiloxSequence sequence = source.sequence();
    parallel_for(count, kGrain, threads,
                 [&](int64_t first, int64_t last) { draw_bits(sequence, drop, first, last, mask); });
    const int64_t used = (count + kBits - 1) / kBits;
    std::fill(mask + used, mask + bytes, uint8_t{0});
  }
};

Status make_mask_task(int64_t count, double prob, const RandomSeed& seed, const aclTensor& mask, MaskTask* task) {
  SOFTNPU_RETURN_IF_ERROR(check_probability(prob));
  SOFTNPU_RETURN_IF_ERROR(RandomSource::make(seed, &task->source));
  SOFTNPU_RETURN_IF_ERROR(mask_memory(mask, count, &task->mask));
  task->drop = static_cast<uint64_t>(std::llround(std::ldexp(prob, 32)));
  task->count = count;
  task->bytes = element_count(mask);
  task->threads = threads_for(kFlopsPerElement * static_cast<double>(count));
  return Status::ok();
}

// A tensor's elements in the order of their indices.
class Indexed {
 public:
  Indexed() = default;
  explicit Indexed(const aclTensor& tensor) : dims_(tensor.dims), strides_(tensor.strides) {
    for (int64_t& stride : strides_) stride *= static_cast<int64_t>(aclDataTypeSize(tensor.dtype));
    // Merges contiguous dimensions: most tensors become one run.
    for (size_t i = dims_.size(); i-- > 1;) {
      if (strides_[i - 1] != strides_[i] * dims_[i]) break;
      dims_[i - 1] *= dims_[i];
      strides_[i - 1] = strides_[i];
      dims_.pop_back();
      strides_.pop_back();
    }
    if (dims_.empty()) {
      dims_.push_back(1);
      strides_.push_back(static_cast<int64_t>(aclDataTypeSize(tensor.dtype)));
    }
  }

  // Calls body(offset in bytes, stride, count) for each run of [first, first + count).
  template <typename Body>
  void for_runs(int64_t first, int64_t count, const Body& body) const {
    const size_t n = dims_.size();
    while (count > 0) {
      int64_t rest = first / dims_[n - 1];
      const int64_t at = first - rest * dims_[n - 1];
      int64_t offset = at * strides_[n - 1];
      for (size_t d = n - 1; rest > 0 && d-- > 0;) {
        const int64_t outer = rest / dims_[d];
        offset += (rest - outer * dims_[d]) * strides_[d];
        rest = outer;
      }
      const int64_t here = std::min(dims_[n - 1] - at, count);
      body(offset, strides_[n - 1], here);
      first += here;
      count -= here;
    }
  }

 private:
  Dims dims_;
  Dims strides_;
};

struct KeepTask {
  Indexed from_offsets, to_offsets;
  const char* from = nullptr;
  char* to = nullptr;
  const uint8_t* mask = nullptr;
  ElementReader reader;
  ElementWriter writer;
  ComputeType compute_type = ComputeType::kF32;
  int64_t compute_bytes = 0;
  int64_t count = 0;
  double scale = 1;
  int threads = 1;

  void run() const {
    parallel_for(count, kGrain, threads, [&](int64_t first, int64_t last) {
      for (int64_t at = first; at < last; at += kTile) keep(at, std::min(kTile, last - at));
    });
  }

  void keep(int64_t first, int64_t here) const {
    alignas(64) char values[kTile * sizeof(std::complex<double>)];
    char* location = values;
    from_offsets.for_runs(first, here, [&](int64_t offset, int64_t stride, int64_t run) {
      reader.read(from + offset, stride, static_cast<size_t>(run), location);
      location += run * compute_bytes;
    });
    with_compute_type(compute_type, [&]<typename T>() {
      if constexpr (!std::is_integral_v<T>) {
        auto* v = reinterpret_cast<T*>(values);
        const auto factor = static_cast<decltype(std::abs(T()))>(scale);
        for (int64_t i = 0; i < here; ++i) {
          const int64_t bit = first + i;
          v[i] = (mask[bit / kBits] >> (bit % kBits) & 1) != 0 ? v[i] * factor : T(0);
        }
      }
    });
    location = values;
    to_offsets.for_runs(first, here, [&](int64_t offset, int64_t stride, int64_t run) {
      writer.write(location, static_cast<size_t>(run), to + offset, stride);
      location += run * compute_bytes;
    });
  }
};

Status make_keep_task(const aclTensor& self, const aclTensor& mask, double prob, const aclTensor& out, KeepTask* task) {
  SOFTNPU_RETURN_IF_ERROR(check_probability(prob));
  if (!is_known(self.dtype) || is_integral(self.dtype) || !is_known(out.dtype) || is_integral(out.dtype)) {
    return {ACLNN_ERR_PARAM_INVALID,
            text("self is ", describe(self), ", out ", describe(out), "; floating-point and complex types are taken")};
  }
  if (!std::ranges::equal(self.dims, out.dims)) {
    return {ACLNN_ERR_PARAM_INVALID, text("self is ", describe(self), " where out is ", describe(out))};
  }
  task->count = element_count(self);
  uint8_t* bits = nullptr;
  SOFTNPU_RETURN_IF_ERROR(mask_memory(mask, task->count, &bits));
  void* from = nullptr;
  void* to = nullptr;
  SOFTNPU_RETURN_IF_ERROR(tensor_memory(self, "self", &from));
  SOFTNPU_RETURN_IF_ERROR(tensor_memory(out, "out", &to));
  task->mask = bits;
  task->from = static_cast<const char*>(from);
  task->to = static_cast<char*>(to);
  task->from_offsets = Indexed(self);
  task->to_offsets = Indexed(out);
  task->compute_type = compute_type_of(self.dtype);
  task->compute_bytes = static_cast<int64_t>(compute_type_size(task->compute_type));
  task->reader = ElementReader(self.dtype, self.dtype);
  task->writer = ElementWriter(self.dtype, out.dtype);
  task->scale = prob == 1 ? 0 : 1 / (1 - prob);
  task->threads = threads_for(kFlopsPerElement * static_cast<double>(task->count));
  return Status::ok();
}

void finish(int64_t count, Plan* plan) {
  plan->work = kFlopsPerElement * static_cast<double>(count);
  plan->describe = [count] { return text("(", count, " elements)"); };
}

}  // namespace

Status dropout_mask(const aclIntArray& shape, double prob, const RandomSeed& seed, const aclTensor& mask, Plan* plan) {
  int64_t count = 1;
  for (int64_t size : shape) {
    if (size < 0 || __builtin_mul_overflow(count, size, &count)) {
      return {ACLNN_ERR_PARAM_INVALID, text("shape has the size ", size, ", which no tensor has")};
    }
  }
  MaskTask task;
  SOFTNPU_RETURN_IF_ERROR(make_mask_task(count, prob, seed, mask, &task));
  finish(count, plan);
  plan->run = [task](void*) {
    task.run();
    return Status::ok();
  };
  return Status::ok();
}

Status dropout(const aclTensor& self, const aclTensor& mask, double prob, const aclTensor& out, Plan* plan) {
  auto task = std::make_shared<KeepTask>();
  SOFTNPU_RETURN_IF_ERROR(make_keep_task(self, mask, prob, out, task.get()));
  finish(task->count, plan);
  plan->run = [task = std::shared_ptr<const KeepTask>(std::move(task))](void*) {
    task->run();
    return Status::ok();
  };
  return Status::ok();
}

Status dropout(const aclTensor& input, const aclTensor* noise_shape, double prob, const RandomSeed& seed,
               const aclTensor& out, const aclTensor& mask, Plan* plan) {
  if (noise_shape != nullptr && element_count(*noise_shape) > 0) {
    return {ACLNN_ERR_PARAM_INVALID, "noiseShape is given; masks of another shape than the input's are not taken"};
  }
  auto keep = std::make_shared<KeepTask>();
  SOFTNPU_RETURN_IF_ERROR(make_keep_task(input, mask, prob, out, keep.get()));
  MaskTask draw;
  SOFTNPU_RETURN_IF_ERROR(make_mask_task(keep->count, prob, seed, mask, &draw));
  finish(keep->count, plan);
  plan->run = [draw, keep = std::shared_ptr<const KeepTask>(std::move(keep))](void*) {
    draw.run();
    keep->run();
    return Status::ok();
  };
  return Status::ok();
}

}  // namespace softnpu
