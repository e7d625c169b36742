#include "ops/nn/attention/cache.h"

#include <cstring>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "ops/core/describe.h"
#include "ops/core/iterate/flat.h"
#include "workers/parallel.h"

namespace softnpu {
namespace {

Status bad(std::string message) { return {ACLNN_ERR_PARAM_INVALID, std::move(message)}; }

// Rows of a tensor and the cache that they are written to.
struct CachedRows {
  FlatTensor rows, cache;
  int64_t length = 0;  // elements of a row
  int64_t chunk = 1;   // of them follow each other in the cache
  int64_t page = 1;
  int64_t bytes = 1;  // of an element

  Status make(const aclTensor& from, const aclTensor& to, const char* role, int64_t count, bool is_blocked) {
    const int64_t elements = element_count(from);
    const bool has_rows = count == 0 ? elements == 0 : elements % count == 0;
    length = count == 0 ? 0 : elements / count;
    if (to.dims.size() != 4 || from.dtype != to.dtype || !is_known(from.dtype) || !has_rows) {
      return bad(text(role, " is ", describe(from), " for ", count, " slots and a cache ", describe(to),
                      ": a row for each slot and a cache of four dimensions of one type are taken"));
    }
    page = to.dims[is_blocked ? 2 : 1];
    chunk = is_blocked ? to.dims[3] : length;
    const Checked in_cache = is_blocked ? checked(to.dims[1]) * to.dims[3] : checked(to.dims[2]) * to.dims[3];
    if (count > 0 && !in_cache.is(length)) {
      return bad(text(role, " has rows of ", length, " elements for a cache ", describe(to)));
    }
    bytes = static_cast<int64_t>(aclDataTypeSize(from.dtype));
    SOFTNPU_RETURN_IF_ERROR(FlatTensor::make(from, -1, role, &rows));
    return FlatTensor::make(to, -1, "the cache", &cache);
  }

  int64_t slots(const aclTensor& to, bool is_blocked) const { return to.dims[0] * to.dims[is_blocked ? 2 : 1]; }

  void write(int64_t row, int64_t slot, std::vector<char>* buffer) const {
    buffer->resize(static_cast<size_t>(length * bytes));
    char* at = buffer->data();
    rows.for_runs(row * length, length, [&](const char* from, ptrdiff_t stride, int64_t count) {
      for (int64_t i = 0; i < count; ++i, from += stride, at += bytes) {
        std::memcpy(at, from, static_cast<size_t>(bytes));
      }
    });
    const char* next = buffer->data();
    const int64_t chunks = chunk == 0 ? 0 : length / chunk;
    for (int64_t j = 0; j < chunks; ++j) {
      const int64_t first = ((slot / page * chunks + j) * page + slot % page) * chunk;
      cache.for_runs(first, chunk, [&](char* to, ptrdiff_t stride, int64_t count) {
        for (int64_t i = 0; i < count; ++i, to += stride, next += bytes) {
          std::memcpy(to, next, static_cast<size_t>(bytes));
        }
      });
    }
  }
};

struct CacheTask {
  std::vector<CachedRows> parts;
  FlatTensor slots;
  int64_t count = 0;
  int64_t limit = 0;
  bool is_widened = false;

  Status run() const {
    std::vector<int64_t> given;
    given.reserve(static_cast<size_t>(count));
    slots.for_runs(0, count, [&](const char* from, ptrdiff_t stride, int64_t here) {
      for (int64_t i = 0; i < here; ++i, from += stride) {
        int32_t narrow = 0;
        int64_t widened = 0;
        if (is_widened) {
          std::memcpy(&widened, from, sizeof(widened));
        } else {
          std::memcpy(&narrow, from, sizeof(narrow));
        }
        given.push_back(is_widened ? widened : narrow);
      }
    });
    for (const int64_t slot : given) {
      if (slot >= limit) {
        return bad(text("slotMapping: slot ", slot, " is out of range: up to ", limit - 1, " are taken"));
      }
    }
    std::vector<char> buffer;
    for (const CachedRows& part : parts) {
      for (int64_t i = 0; i < count; ++i) {
        if (given[static_cast<size_t>(i)] >= 0) part.write(i, given[static_cast<size_t>(i)], &buffer);
      }
    }
    return Status::ok();
  }
};

}  // namespace

Status write_pages(const PageRows& o, Plan* plan) {
  const std::string_view mode = o.cache_mode == nullptr ? "" : o.cache_mode;
  const std::string_view scatter = o.scatter_mode == nullptr ? "" : o.scatter_mode;
  const bool is_blocked = mode == "PA_NZ";
  if ((!is_blocked && !mode.empty() && mode != "Norm") || (!scatter.empty() && scatter != "None")) {
    return bad(text("cacheMode is '", mode, "' and scatterMode '", scatter, "': Norm and PA_NZ, and None are taken"));
  }
  for (const aclTensor* tensor : o.absent) {
    if (tensor != nullptr && element_count(*tensor) > 0) {
      return bad("compressLens, compressSeqOffsets or seqLens is given: compressed rows are not taken");
    }
  }
  if ((o.slots.dtype != ACL_INT32 && o.slots.dtype != ACL_INT64) || o.slots.dims.size() != 1) {
    return bad(text("slotMapping is ", describe(o.slots), "; int32 and int64 of one dimension are taken"));
  }
  if ((o.value == nullptr) != (o.value_cache == nullptr)) return bad("one of value and valueCache is given alone");
  auto task = std::make_shared<CacheTask>();
  task->count = o.slots.dims[0];
  task->is_widened = o.slots.dtype == ACL_INT64;
  SOFTNPU_RETURN_IF_ERROR(FlatTensor::make(o.slots, -1, "slotMapping", &task->slots));
  SOFTNPU_RETURN_IF_ERROR(task->parts.emplace_back().make(o.key, o.key_cache, "key", task->count, is_blocked));
  task->limit = task->parts[0].slots(o.key_cache, is_blocked);
  if (o.value != nullptr) {
    SOFTNPU_RETURN_IF_ERROR(
        task->parts.emplace_back().make(*o.value, *o.value_cache, "value", task->count, is_blocked));
    if (task->parts[1].slots(*o.value_cache, is_blocked) != task->limit || task->parts[1].page != task->parts[0].page) {
      return bad(text("keyCache is ", describe(o.key_cache), " and valueCache ", describe(*o.value_cache),
                      ": they have the same pages"));
    }
  }
  plan->work = 8 * static_cast<double>(element_count(o.key));
  plan->describe = describe_later({&o.key, &o.key_cache, &o.slots});
  plan->run = [task = std::shared_ptr<const CacheTask>(std::move(task))](void*) { return task->run(); };
  return Status::ok();
}

}  // namespace softnpu
