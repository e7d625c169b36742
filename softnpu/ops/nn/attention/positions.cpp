#include "ops/nn/attention/positions.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "ops/core/describe.h"
#include "ops/core/given.h"
#include "ops/core/iterate/flat.h"
#include "ops/core/nothing.h"
#include "workers/parallel.h"

namespace softnpu {
namespace {

constexpr int64_t kGrain = 1 << 13;  // elements per chunk
constexpr double kFlopsPerElement = 24;

Status bad(std::string message) { return {ACLNN_ERR_PARAM_INVALID, std::move(message)}; }

// Heads [T, length] that are rotated.
struct Heads {
  FlatReader<float> from;
  FlatWriter<float> to;
  int64_t length = 0;

  Status make(const aclTensor& x, const aclTensor& y, const char* role, int64_t tokens, int64_t head_size) {
    const bool fits = x.dims.size() == 2 && x.dims[0] == tokens && std::ranges::equal(x.dims, y.dims) &&
                      head_size > 0 && x.dims[1] % head_size == 0 && is_value(x.dtype) && is_value(y.dtype);
    if (!fits) {
      return bad(text(role, " is ", describe(x), " and its result ", describe(y), ": floating-point rows of heads of ",
                      head_size, " elements for ", tokens, " tokens are taken"));
    }
    length = x.dims[1];
    FlatTensor flat;
    SOFTNPU_RETURN_IF_ERROR(FlatTensor::make(x, -1, role, &flat));
    from = FlatReader<float>(std::move(flat));
    SOFTNPU_RETURN_IF_ERROR(FlatTensor::make(y, -1, "the result", &flat));
    to = FlatWriter<float>(std::move(flat));
    return Status::ok();
  }
};

struct PositionTask {
  FlatReader<double> positions;  // exact for all that are rows
  FlatReader<float> table;
  std::vector<int64_t> section;
  std::vector<Heads> parts;
  int64_t tokens = 0, rows = 0, kinds = 1, half = 0, head_size = 1;
  bool by_halves = true;

  Status run() const {
    std::vector<double> buffer(static_cast<size_t>(kinds * tokens));
    const double* const given = positions.read(0, kinds * tokens, buffer.data());
    for (int64_t i = 0; i < kinds * tokens; ++i) {
      if (given[i] < 0 || given[i] >= static_cast<double>(rows)) {
        return bad(
            text("positions: ", static_cast<int64_t>(given[i]), " is out of range: 0 up to ", rows - 1, " are taken"));
      }
    }
    const int64_t longest = std::max(parts[0].length, parts[1].length);
    parallel_for(tokens, std::max<int64_t>(1, kGrain / std::max<int64_t>(1, longest)), threads_for(work()),
                 [&](int64_t first, int64_t last) {
                   std::vector<float> angles(static_cast<size_t>(2 * half)), row(angles.size());
                   std::vector<float> in(static_cast<size_t>(longest)), out(in.size());
                   for (int64_t token = first; token < last; ++token) {
                     read_angles(given, token, row.data(), angles.data());
                     for (const Heads& part : parts) {
                       const float* const x = part.from.read(token * part.length, part.length, in.data());
                       for (int64_t at = 0; at < part.length; at += head_size) {
                         rotate_head(x + at, angles.data(), out.data() + at);
                       }
                       part.to.put(token * part.length, part.length, out.data());
                     }
                   }
                 });
    return Status::ok();
  }

  double work() const {
    return kFlopsPerElement * static_cast<double>(tokens) * static_cast<double>(parts[0].length + parts[1].length);
  }

 private:
  void read_angles(const double* given, int64_t token, float* row, float* angles) const {
    int64_t begin = 0;
    for (int64_t kind = 0; kind < kinds; ++kind) {
      const int64_t count = kinds == 1 ? half : section[static_cast<size_t>(kind)];
      const auto position = static_cast<int64_t>(given[kind * tokens + token]);
      const float* const found = table.read(position * 2 * half, 2 * half, row);
      std::copy_n(found + begin, count, angles + begin);
      std::copy_n(found + half + begin, count, angles + half + begin);
      begin += count;
    }
  }

  void rotate_head(const float* x, const float* angles, float* y) const {
    const float* const cos = angles;
    const float* const sin = angles + half;
    if (by_halves) {
#pragma GCC ivdep
      for (int64_t i = 0; i < half; ++i) {
        const float a = x[i], b = x[i + half];
        y[i] = a * cos[i] - b * sin[i];
        y[i + half] = b * cos[i] + a * sin[i];
      }
    } else {
#pragma GCC ivdep
      for (int64_t i = 0; i < half; ++i) {
        const float a = x[2 * i], b = x[2 * i + 1];
        y[2 * i] = a * cos[i] - b * sin[i];
        y[2 * i + 1] = b * cos[i] + a * sin[i];
      }
    }
    std::copy_n(x + 2 * half, head_size - 2 * half, y + 2 * half);
  }
};

}  // namespace

Status rotate_by_positions(const PositionRotation& o, Plan* plan) {
  const auto n = o.positions.dims.size();
  if ((n != 1 && n != 2) || (o.positions.dtype != ACL_INT32 && o.positions.dtype != ACL_INT64)) {
    return bad(text("positions is ", describe(o.positions), ": int32 and int64 of [T] or [m, T] are taken"));
  }
  if (o.table.dims.size() != 2 || o.table.dims[1] % 2 != 0 || o.table.dims[1] > o.head_size ||
      !is_value(o.table.dtype)) {
    return bad(text("cosSinCache is ", describe(o.table), ": floating-point rows of an even length up to the head's ",
                    o.head_size, " are taken"));
  }
  auto task = std::make_shared<PositionTask>();
  task->tokens = o.positions.dims[n - 1];
  task->kinds = n == 1 ? 1 : o.positions.dims[0];
  task->rows = o.table.dims[0];
  task->half = o.table.dims[1] / 2;
  task->head_size = o.head_size;
  task->by_halves = o.by_halves;
  if (n == 2) {
    int64_t sum = 0;
    for (size_t i = 0; o.section != nullptr && i < o.section->size(); ++i) {
      const int64_t count = (*o.section)[i];
      if (count < 0 || count > task->half) return bad(text("mropeSection has ", count, " for ", task->half, " angles"));
      task->section.push_back(count);
      sum += count;
    }
    if (static_cast<int64_t>(task->section.size()) != task->kinds || sum != task->half) {
      return bad(text("mropeSection has ", task->section.size(), " numbers with the sum ", sum, " for positions ",
                      describe(o.positions), " and ", task->half, " angles: one a row is taken, with this sum"));
    }
  }
  for (const auto& [x, y, role] :
       {std::tuple(&o.query, &o.query_out, "query"), std::tuple(&o.key, &o.key_out, "key")}) {
    SOFTNPU_RETURN_IF_ERROR(task->parts.emplace_back().make(*x, *y, role, task->tokens, o.head_size));
  }
  FlatTensor flat;
  SOFTNPU_RETURN_IF_ERROR(FlatTensor::make(o.positions, -1, "positions", &flat));
  task->positions = FlatReader<double>(std::move(flat));
  SOFTNPU_RETURN_IF_ERROR(FlatTensor::make(o.table, -1, "cosSinCache", &flat));
  task->table = FlatReader<float>(std::move(flat));
  if (task->tokens == 0) return plan_nothing(plan);
  plan->work = task->work();
  plan->describe = describe_later({&o.query, &o.key, &o.table});
  plan->run = [task = std::shared_ptr<const PositionTask>(std::move(task))](void*) { return task->run(); };
  return Status::ok();
}

}  // namespace softnpu
