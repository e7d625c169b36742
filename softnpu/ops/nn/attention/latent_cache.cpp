#include "ops/nn/attention/latent_cache.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "ops/core/describe.h"
#include "ops/core/iterate/flat.h"
#include "ops/core/nothing.h"
#include "ops/nn/norm/rows.h"
#include "ops/nn/quant/numbers.h"
#include "ops/nn/quant/row_kernels.h"
#include "workers/parallel.h"

namespace softnpu {
namespace {

constexpr int64_t kGrain = 1 << 12;  // elements per chunk
constexpr double kFlopsPerElement = 40;
constexpr int64_t kBlockBytes = 32;

Status bad(std::string message) { return {ACLNN_ERR_PARAM_INVALID, std::move(message)}; }

template <typename Accessor>
Status open(const aclTensor& tensor, const char* role, int64_t count, Accessor* out) {
  if (!is_value(tensor.dtype) || element_count(tensor) != count) {
    return bad(text(role, " is ", describe(tensor), ", where ", count, " floating-point numbers are needed"));
  }
  FlatTensor flat;
  SOFTNPU_RETURN_IF_ERROR(FlatTensor::make(tensor, -1, role, &flat));
  *out = Accessor(std::move(flat));
  return Status::ok();
}

// A contiguous cache, and what rows of it are.
struct CachedChannels {
  FlatWriter<float> to;
  Numbers scale, offset;
  int64_t channels = 0;
  int64_t slots = 0;
  int64_t page = 1;
  int64_t block = 0;  // channels that follow each other in memory

  Status make(const aclTensor& cache, const char* role, int64_t count, bool is_blocked, const aclTensor* scales,
              const aclTensor* offsets) {
    const bool fits = cache.dims.size() == 4 && cache.dims[3] == count &&
                      (scales == nullptr ? is_value(cache.dtype) : cache.dtype == ACL_INT8);
    const int64_t bytes = fits ? static_cast<int64_t>(aclDataTypeSize(cache.dtype)) : 1;
    channels = count;
    block = is_blocked ? kBlockBytes / bytes : count;
    if (!fits || (count > 0 && count % block != 0)) {
      return bad(text(role, " is ", describe(cache), ": four dimensions with ", count,
                      " channels are taken, in whole blocks of 32 bytes for NZ, and int8 with scales"));
    }
    page = cache.dims[1];
    slots = count == 0 ? 0 : element_count(cache) / count;
    SOFTNPU_RETURN_IF_ERROR(scale.make(scales, "the scale"));
    SOFTNPU_RETURN_IF_ERROR(offset.make(offsets, "the offset"));
    for (const Numbers* numbers : {&scale, &offset}) {
      if (numbers->count() > 1 && numbers->count() != count) {
        return bad(text("scales or offsets have ", numbers->count(), " elements for ", count, " channels"));
      }
    }
    FlatTensor flat;
    SOFTNPU_RETURN_IF_ERROR(FlatTensor::make(cache, -1, role, &flat));
    to = FlatWriter<float>(std::move(flat));
    return Status::ok();
  }

  void write(int64_t slot, const float* values) const {
    const int64_t blocks = channels / block;
    for (int64_t j = 0; j < blocks; ++j) {
      to.put(((slot / page * blocks + j) * page + slot % page) * block, block, values + j * block);
    }
  }
};

struct LatentTask {
  FlatReader<float> kv, cos, sin, v;
  FlatReader<double> index;  // exact for all that are slots
  Numbers gamma;
  CachedChannels key_cache, value_cache;
  std::optional<FlatWriter<float>> key, value;
  int64_t batch = 0, tokens = 0, length = 0, normed = 0, rotated = 0, indices = 0;
  double eps = 0;
  bool has_v = false, by_sequence = false, by_page = false;

  Status run() const {
    std::vector<int64_t> slots;
    SOFTNPU_RETURN_IF_ERROR(read_slots(&slots));
    const std::vector<float> weight = gamma.spread(normed, 1);
    const Scales key_scales(key_cache), value_scales(value_cache);
    std::vector<int64_t> sorted = slots;
    std::ranges::sort(sorted);
    std::erase_if(sorted, [](int64_t slot) { return slot < 0; });
    // The last one of several tokens of a slot stays: they run in their order.
    const int threads = std::ranges::adjacent_find(sorted) == sorted.end() ? threads_for(work()) : 1;
    parallel_for(batch * tokens, std::max<int64_t>(1, kGrain / length), threads, [&](int64_t first, int64_t last) {
      Buffers buffers(static_cast<size_t>(std::max({length, key_cache.channels, value_cache.channels, rotated})));
      for (int64_t token = first; token < last; ++token) {
        run_token(token, slots[static_cast<size_t>(token)], weight.data(), key_scales, value_scales, &buffers);
      }
    });
    return Status::ok();
  }

  double work() const {
    return kFlopsPerElement * static_cast<double>(batch) * static_cast<double>(tokens) * static_cast<double>(length);
  }

 private:
  struct Buffers {
    explicit Buffers(size_t size) : row(size), cos(size), sin(size), key(size), value(size), cached(size) {}
    std::vector<float> row, cos, sin, key, value, cached;
  };
  struct Scales {
    explicit Scales(const CachedChannels& cache)
        : scale(cache.scale.count() > 0 ? cache.scale.spread(cache.channels, 1) : std::vector<float>()),
          offset(cache.offset.spread(cache.channels, 0)) {}
    std::vector<float> scale, offset;
  };

  Status read_slots(std::vector<int64_t>* slots) const {
    std::vector<double> buffer(static_cast<size_t>(indices));
    const double* const given = index.read(0, indices, buffer.data());
    const int64_t limit = std::min(key_cache.slots, value_cache.slots);
    const int64_t own = by_sequence ? limit / std::max<int64_t>(1, batch) : limit;  // slots that a number may name
    const int64_t page = key_cache.page, pages = by_page ? indices / std::max<int64_t>(1, batch) : 0;
    const auto out_of_range = [&](int64_t slot) {
      if (by_sequence) return bad(text("index: ", slot, " is out of range: 0 up to ", own - 1, " are taken"));
      return bad(text("index: slot ", slot, " is out of range: up to ", limit - 1, " are taken"));
    };
    slots->reserve(static_cast<size_t>(batch * tokens));
    for (int64_t i = 0; i < batch * tokens; ++i) {
      const int64_t sequence = i / tokens, at = i % tokens;
      const double number = given[by_page ? sequence * pages + at / page : i];
      // The largest int64 as a double is above all int64.
      const bool is_int64 = number < 0x1p63;
      const int64_t slot = is_int64 ? static_cast<int64_t>(number) : std::numeric_limits<int64_t>::max();
      if (slot >= own || (by_sequence && slot < 0)) return out_of_range(slot);
      const int64_t moved = slot + (by_sequence ? sequence * own : by_page && slot >= 0 ? at % page : 0);
      if (moved >= limit) return out_of_range(moved);
      slots->push_back(moved);
    }
    return Status::ok();
  }

  void run_token(int64_t token, int64_t slot, const float* weight, const Scales& key_scales, const Scales& value_scales,
                 Buffers* b) const {
    const float* const x = kv.read(token * length, length, b->row.data());
    const float* const c = cos.read(token * rotated, rotated, b->cos.data());
    const float* const s = sin.read(token * rotated, rotated, b->sin.data());
    const auto n = static_cast<size_t>(normed);
    const double scale = 1 / std::sqrt(norm_.squares(x, n) / static_cast<double>(normed) + eps);
    norm_.normalize(x, n, 0, static_cast<float>(scale), weight, nullptr, b->value.data());
    const float* const pairs = has_v ? b->value.data() : x + normed;
    const int64_t half = rotated / 2;
    float* const turned = b->key.data();
    for (int64_t i = 0; i < half; ++i) {
      const float left = pairs[2 * i], right = pairs[2 * i + 1];
      turned[i] = left * c[i] - right * s[i];
      turned[i + half] = right * c[i + half] + left * s[i + half];
    }
    const float* values = b->value.data();
    if (has_v) {
      std::copy_n(b->value.data() + rotated, normed - rotated, turned + rotated);
      values = v.read(token * value_cache.channels, value_cache.channels, b->row.data());
    }
    if (key) key->put(token * key_cache.channels, key_cache.channels, turned);
    if (value) value->put(token * value_cache.channels, value_cache.channels, values);
    if (slot < 0) return;
    write(key_cache, slot, key_scales, turned, b);
    write(value_cache, slot, value_scales, values, b);
  }

  void write(const CachedChannels& cache, int64_t slot, const Scales& scales, const float* values, Buffers* b) const {
    if (!scales.scale.empty()) {
      quant_.scale(values, scales.scale.data(), scales.offset.data(), static_cast<size_t>(cache.channels),
                   b->cached.data());
      values = b->cached.data();
    }
    cache.write(slot, values);
  }

  NormRows<float> norm_ = norm_rows<float>();
  QuantRowKernels quant_ = quant_row_kernels();
};

Status read_mode(const LatentCache& o, LatentTask* task, bool* is_blocked) {
  const std::string_view mode = o.mode == nullptr ? "" : o.mode;
  task->by_sequence = mode == "Norm";
  task->by_page = mode == "PA_BLK_BNSD" || mode == "PA_BLK_NZ";
  *is_blocked = mode.ends_with("NZ");
  if (task->by_sequence || task->by_page || mode == "PA" || mode == "PA_BNSD" || mode == "PA_NZ") return Status::ok();
  return bad(text("cacheMode is '", mode, "': Norm, PA, PA_BNSD, PA_NZ, PA_BLK_BNSD and PA_BLK_NZ are taken"));
}

Status check_sizes(const LatentCache& o) {
  const auto is_sequence = [&](const aclTensor& tensor) {
    return tensor.dims.size() == 4 && tensor.dims[0] == o.kv.dims[0] && tensor.dims[1] == 1 &&
           tensor.dims[2] == o.kv.dims[2];
  };
  const bool fits = o.kv.dims.size() == 4 && is_sequence(o.kv) && is_sequence(o.cos) && is_sequence(o.sin) &&
                    o.cos.dims[3] == o.sin.dims[3] && o.cos.dims[3] % 2 == 0 && o.gamma.dims.size() == 1 &&
                    (!is_given(o.v) || (is_sequence(*o.v) && o.gamma.dims[0] >= o.cos.dims[3]));
  const int64_t channels = fits ? o.gamma.dims[0] + (is_given(o.v) ? 0 : o.cos.dims[3]) : 0;
  if (fits && o.kv.dims[3] == channels && o.gamma.dims[0] > 0) return Status::ok();
  return bad(text("kv is ", describe(o.kv), ", gamma ", describe(o.gamma), ", cos ", describe(o.cos), ", sin ",
                  describe(o.sin), ": [B, 1, S, D], [N] and twice [B, 1, S, R] are taken, D is N with v, else N + R"));
}

}  // namespace

Status write_latent_cache(const LatentCache& o, Plan* plan) {
  SOFTNPU_RETURN_IF_ERROR(check_sizes(o));
  auto task = std::make_shared<LatentTask>();
  bool is_blocked = false;
  SOFTNPU_RETURN_IF_ERROR(read_mode(o, task.get(), &is_blocked));
  task->batch = o.kv.dims[0];
  task->tokens = o.kv.dims[2];
  task->length = o.kv.dims[3];
  task->normed = o.gamma.dims[0];
  task->rotated = o.cos.dims[3];
  task->eps = o.eps;
  task->has_v = is_given(o.v);
  const int64_t rows = task->batch * task->tokens;
  const int64_t keys = task->has_v ? task->normed : task->rotated;
  const int64_t values = task->has_v ? o.v->dims[3] : task->normed;
  SOFTNPU_RETURN_IF_ERROR(open(o.kv, "kv", rows * task->length, &task->kv));
  SOFTNPU_RETURN_IF_ERROR(open(o.cos, "cos", rows * task->rotated, &task->cos));
  SOFTNPU_RETURN_IF_ERROR(open(o.sin, "sin", rows * task->rotated, &task->sin));
  if (task->has_v) SOFTNPU_RETURN_IF_ERROR(open(*o.v, "v", rows * values, &task->v));
  if (is_given(o.key)) SOFTNPU_RETURN_IF_ERROR(open(*o.key, "the key", rows * keys, &task->key));
  if (is_given(o.value)) SOFTNPU_RETURN_IF_ERROR(open(*o.value, "the value", rows * values, &task->value));
  SOFTNPU_RETURN_IF_ERROR(task->gamma.make(&o.gamma, "gamma"));
  SOFTNPU_RETURN_IF_ERROR(task->key_cache.make(o.key_cache, "kCache", keys, is_blocked, o.key_scale, o.key_offset));
  SOFTNPU_RETURN_IF_ERROR(
      task->value_cache.make(o.value_cache, "ckvCache", values, is_blocked, o.value_scale, o.value_offset));
  if (o.index.dtype != ACL_INT32 && o.index.dtype != ACL_INT64) {
    return bad(text("index is ", describe(o.index), ": int32 and int64 are taken"));
  }
  task->indices = element_count(o.index);
  const int64_t page = task->key_cache.page;
  if (task->by_page && page == 0) return bad(text("kCache is ", describe(o.key_cache), ": pages are empty"));
  const int64_t needed = task->by_page ? task->batch * ((task->tokens + page - 1) / page) : rows;
  if (task->indices != needed || (task->by_sequence && o.key_cache.dims[0] != task->batch) ||
      task->key_cache.page != task->value_cache.page || task->key_cache.slots != task->value_cache.slots) {
    return bad(text("index is ", describe(o.index), " for kv ", describe(o.kv), ", kCache ", describe(o.key_cache),
                    " and ckvCache ", describe(o.value_cache), ": ", needed, " numbers and equal pages are taken"));
  }
  FlatTensor flat;
  SOFTNPU_RETURN_IF_ERROR(FlatTensor::make(o.index, -1, "index", &flat));
  task->index = FlatReader<double>(std::move(flat));
  if (rows == 0) return plan_nothing(plan);
  plan->work = task->work();
  plan->describe = describe_later({&o.kv, &o.key_cache, &o.value_cache});
  plan->run = [task = std::shared_ptr<const LatentTask>(std::move(task))](void*) { return task->run(); };
  return Status::ok();
}

}  // namespace softnpu
