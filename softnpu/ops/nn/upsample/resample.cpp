#include "ops/nn/upsample/resample.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "ops/core/convert/element_rows.h"
#include "ops/core/dtype.h"
#include "ops/core/planes/planes.h"
#include "workers/parallel.h"

namespace softnpu {
namespace {

// A Taps matrix with its weights in the type of the computation.
template <typename T>
struct Rows {
  Taps taps;
  std::vector<T> weight;
  int64_t each = 0;  // values per row; 0: they differ

  explicit Rows(Taps given) : taps(std::move(given)) {
    for (const double w : taps.weight) weight.push_back(static_cast<T>(w));
    each = taps.rows() > 0 ? taps.begin[1] : 0;
    for (int64_t row = 0; row < taps.rows(); ++row) {
      if (end(row) - begin(row) != each) each = 0;
    }
  }
  int64_t begin(int64_t row) const { return taps.begin[static_cast<size_t>(row)]; }
  int64_t end(int64_t row) const { return taps.begin[static_cast<size_t>(row) + 1]; }
};

// Whether an image's rows are contiguous with the channels innermost.
bool is_channels_last(const Image& image) {
  return image.channels > 1 && image.channel_stride == 1 && image.strides[2] == image.channels;
}

template <typename T>
class Resample {
 public:
  explicit Resample(ResampleProblem p)
      : batch_(p.batch),
        in_(p.in),
        out_(p.out),
        planes_(std::move(p.taps[0])),
        rows_(std::move(p.taps[1])),
        columns_(std::move(p.taps[2])),
        reader_(in_.dtype, in_.dtype),
        writer_(out_.dtype, out_.dtype),
        lanes_(is_channels_last(in_) && is_channels_last(out_) ? in_.channels : 1) {}

  int64_t count() const { return batch_ * (in_.channels / lanes_) * out_.sizes[0] * out_.sizes[1]; }
  int64_t row_values() const { return out_.sizes[2] * lanes_; }
  double flops() const {
    const auto outer = static_cast<double>(batch_ * in_.channels);
    const auto vertical = static_cast<double>(planes_.taps.count() * rows_.taps.count() * in_.sizes[2]);
    const auto rest = static_cast<double>(out_.sizes[0] * out_.sizes[1] * columns_.taps.count());
    return 2 * outer * (vertical + 2 * rest);
  }

  // Computes rows [first, last) of the result.
  void run(int64_t first, int64_t last) const {
    const auto width = static_cast<size_t>(in_.sizes[2] * lanes_);
    std::vector<T> memory(2 * width + static_cast<size_t>(row_values()));
    T* const line = memory.data();
    T* const read = line + width;
    T* const created = read + width;
    int64_t row = first % out_.sizes[1];
    int64_t plane = first / out_.sizes[1] % out_.sizes[0];
    int64_t outer = first / (out_.sizes[1] * out_.sizes[0]);
    for (int64_t i = first; i < last; ++i, ++row) {
      if (row == out_.sizes[1]) {
        row = 0;
        if (++plane == out_.sizes[0]) {
          plane = 0;
          ++outer;
        }
      }
      char* const to = location(out_, outer, plane, row);
      const bool in_place = writer_.is_direct() && step(out_) == sizeof(T);
      T* const target = in_place ? reinterpret_cast<T*>(to) : created;
      along(across(outer, plane, row, read, line), target);
      if (!in_place) writer_.write(created, static_cast<size_t>(row_values()), to, step(out_));
    }
  }

 private:
  ptrdiff_t step(const Image& image) const {
    return (lanes_ > 1 ? 1 : image.strides[2]) * static_cast<ptrdiff_t>(aclDataTypeSize(image.dtype));
  }

  // Of an image's channel, or of the whole image if its channels are processed together.
  int64_t offset_of(const Image& image, int64_t outer) const {
    if (lanes_ > 1) return outer * image.batch_stride;
    if (image.batch_stride == image.channels * image.channel_stride) return outer * image.channel_stride;
    return outer / image.channels * image.batch_stride + outer % image.channels * image.channel_stride;
  }

  char* location(const Image& image, int64_t outer, int64_t plane, int64_t row) const {
    const int64_t element = offset_of(image, outer) + plane * image.strides[0] + row * image.strides[1];
    return image.data + element * static_cast<ptrdiff_t>(aclDataTypeSize(image.dtype));
  }

  const T* source(int64_t outer, int64_t plane, int64_t row, T* room) const {
    const char* from = location(in_, outer, plane, row);
    if (reader_.is_direct() && step(in_) == sizeof(T)) return reinterpret_cast<const T*>(from);
    reader_.read(from, step(in_), static_cast<size_t>(in_.sizes[2] * lanes_), room);
    return room;
  }

  // The weighted sum of the input's rows for a row of the result: in `line`, or the input's row itself if its weight is
  // 1 and it is the only one.
  const T* across(int64_t outer, int64_t plane, int64_t row, T* read, T* line) const {
    const int64_t width = in_.sizes[2] * lanes_;
    bool is_first = true;
    for (int64_t i = planes_.begin(plane); i < planes_.end(plane); ++i) {
      for (int64_t k = rows_.begin(row); k < rows_.end(row); ++k) {
        const T weight = planes_.weight[static_cast<size_t>(i)] * rows_.weight[static_cast<size_t>(k)];
        const T* const from =
            source(outer, planes_.taps.index[static_cast<size_t>(i)], rows_.taps.index[static_cast<size_t>(k)], read);
        const bool is_alone = planes_.end(plane) - planes_.begin(plane) == 1 && rows_.end(row) - rows_.begin(row) == 1;
        if (is_alone && weight == T{1}) return from;
        if (is_first) {
          for (int64_t x = 0; x < width; ++x) line[x] = weight * from[x];
        } else {
          for (int64_t x = 0; x < width; ++x) line[x] += weight * from[x];
        }
        is_first = false;
      }
    }
    if (is_first) std::fill_n(line, width, T{});
    return line;
  }

  void along(const T* line, T* out) const {
    if (lanes_ > 1) return along_lanes(line, out);
    const int64_t* const index = columns_.taps.index.data();
    const T* const weight = columns_.weight.data();
    const int64_t count = out_.sizes[2];
    switch (columns_.each) {
      case 1: return along_each<1>(line, index, weight, count, out);
      case 2: return along_each<2>(line, index, weight, count, out);
      case 4: return along_each<4>(line, index, weight, count, out);
      default: break;
    }
    for (int64_t x = 0; x < count; ++x) {
      T sum{};
      for (int64_t k = columns_.begin(x); k < columns_.end(x); ++k) sum += weight[k] * line[index[k]];
      out[x] = sum;
    }
  }

  template <int64_t kEach>
  static void along_each(const T* line, const int64_t* index, const T* weight, int64_t count, T* out) {
    for (int64_t x = 0; x < count; ++x) {
      T sum{};
      for (int64_t k = 0; k < kEach; ++k) sum += weight[x * kEach + k] * line[index[x * kEach + k]];
      out[x] = sum;
    }
  }

  void along_lanes(const T* line, T* out) const {
    const int64_t* const index = columns_.taps.index.data();
    const T* const weight = columns_.weight.data();
    for (int64_t x = 0; x < out_.sizes[2]; ++x, out += lanes_) {
      int64_t k = columns_.begin(x);
      const int64_t end = columns_.end(x);
      if (k + 1 < end) {
        const T* const first = line + index[k] * lanes_;
        const T* const second = line + index[k + 1] * lanes_;
        for (int64_t c = 0; c < lanes_; ++c) out[c] = weight[k] * first[c] + weight[k + 1] * second[c];
        k += 2;
      } else {
        std::fill_n(out, lanes_, T{});
      }
      for (; k < end; ++k) {
        const T* const from = line + index[k] * lanes_;
        for (int64_t c = 0; c < lanes_; ++c) out[c] += weight[k] * from[c];
      }
    }
  }

  int64_t batch_;
  Image in_, out_;
  Rows<T> planes_, rows_, columns_;
  ElementReader reader_;
  ElementWriter writer_;
  int64_t lanes_;  // values per position that are processed together: all channels, or one
};

// Small planes by a table (ops/planes).
std::optional<Plan> plan_resample_of_planes(const ResampleProblem& p) {
  constexpr int64_t kMaxEntries = 1 << 13;  // building a table takes time
  const Taps& planes = p.taps[0];
  const Taps& rows = p.taps[1];
  const Taps& columns = p.taps[2];
  const bool is_float = p.in.dtype == ACL_FLOAT && p.out.dtype == ACL_FLOAT;
  if (!is_float || !has_dense_planes(p.in, p.batch) || !has_dense_planes(p.out, p.batch)) return std::nullopt;
  if (!fits_planes(p.batch * p.in.channels, p.in.spatial_size(), p.out.spatial_size())) return std::nullopt;
  const double entries = static_cast<double>(planes.count()) * static_cast<double>(rows.count() * columns.count());
  if (entries > kMaxEntries) return std::nullopt;
  PlaneTable table(p.in.spatial_size());
  const auto for_row = [](const Taps& taps, int64_t row, const auto& body) {
    for (int64_t i = taps.begin[static_cast<size_t>(row)]; i < taps.begin[static_cast<size_t>(row) + 1]; ++i) {
      body(taps.index[static_cast<size_t>(i)], static_cast<float>(taps.weight[static_cast<size_t>(i)]));
    }
  };
  for (int64_t z = 0; z < planes.rows(); ++z) {
    for (int64_t y = 0; y < rows.rows(); ++y) {
      for (int64_t x = 0; x < columns.rows(); ++x) {
        for_row(planes, z, [&](int64_t plane, float plane_weight) {
          for_row(rows, y, [&](int64_t row, float row_weight) {
            const int64_t begin = (plane * p.in.sizes[1] + row) * p.in.sizes[2];
            const float weight = plane_weight * row_weight;
            for_row(columns, x, [&](int64_t column, float own) { table.add(begin + column, weight * own); });
          });
        });
        table.end_row();
      }
    }
  }
  PlanesProblem created{PlaneOp::kSum, std::move(table)};
  created.planes = p.batch * p.in.channels;
  created.source = reinterpret_cast<const float*>(p.in.data);
  created.result = reinterpret_cast<float*>(p.out.data);
  return plan_planes(std::move(created));
}

}  // namespace

Plan plan_resample(ResampleProblem problem) {
  if (std::optional<Plan> created = plan_resample_of_planes(problem)) return *std::move(created);
  Plan plan;
  with_compute_type(compute_type_of(problem.out.dtype), [&]<typename T>() {
    if constexpr (std::is_arithmetic_v<T>) {
      auto work = std::make_shared<const Resample<T>>(std::move(problem));
      const double flops = work->flops();
      plan.work = flops;
      const int64_t grain = std::max<int64_t>(1, 16384 / std::max<int64_t>(1, work->row_values()));
      plan.run = [work = std::move(work), grain, threads = threads_for(flops)](void*) {
        parallel_for(work->count(), grain, threads, [&](int64_t first, int64_t last) { work->run(first, last); });
        return Status::ok();
      };
    }
  });
  return plan;
}

}  // namespace softnpu
