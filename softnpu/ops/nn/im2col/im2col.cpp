#include "ops/nn/im2col/im2col.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "ops/core/convert/element_rows.h"
#include "ops/core/dtype.h"
#include "ops/core/element.h"
#include "workers/parallel.h"

namespace softnpu {
namespace {

// The positions at which a window's value is inside the image: stride * at + offset in [0, size) for [first, last).
struct Run {
  int64_t first;
  int64_t last;
};

Run inside(int64_t offset, int64_t stride, int64_t size, int64_t count) {
  const int64_t first = offset >= 0 ? 0 : (-offset + stride - 1) / stride;
  const int64_t last = size > offset ? (size - offset + stride - 1) / stride : 0;
  return {std::min(first, count), std::clamp(last, std::min(first, count), count)};
}

class Columns {
 public:
  explicit Columns(Im2colProblem p) : p_(std::move(p)), bytes_(static_cast<int64_t>(aclDataTypeSize(p_.image.dtype))) {}

  const Im2colProblem& problem() const { return p_; }
  int64_t taps() const { return p_.kernel.height * p_.kernel.width; }
  int64_t windows() const { return p_.windows.height * p_.windows.width; }
  int64_t lines() const { return p_.batch * p_.image.channels * taps(); }

  // One window element of a channel, for all windows.
  template <typename T>
  void take(int64_t line) const {
    const Line from = line_of(line);
    T* to = reinterpret_cast<T*>(column(from.batch, line % (p_.image.channels * taps())));
    const int64_t step = p_.columns.strides[2];
    const Run run = inside(from.left, p_.stride.width, p_.image.sizes[2], p_.windows.width);
    for (int64_t y = 0; y < p_.windows.height; ++y) {
      const int64_t row = y * p_.stride.height + from.top;
      if (row < 0 || row >= p_.image.sizes[1]) {
        for (int64_t x = 0; x < p_.windows.width; ++x, to += step) *to = T{};
        continue;
      }
      for (int64_t x = 0; x < run.first; ++x, to += step) *to = T{};
      const T* in = reinterpret_cast<const T*>(pixel(from, row)) +
                    (run.first * p_.stride.width + from.left) * p_.image.strides[2];
      const int64_t in_step = p_.stride.width * p_.image.strides[2];
      for (int64_t x = run.first; x < run.last; ++x, to += step, in += in_step) *to = *in;
      for (int64_t x = run.last; x < p_.windows.width; ++x, to += step) *to = T{};
    }
  }

  // One channel of the image.
  template <typename T>
  void add(const ElementReader& reader, const ElementWriter& writer, int64_t index) const {
    const Triple& sizes = p_.image.sizes;
    std::vector<T> plane(static_cast<size_t>(sizes[1] * sizes[2]));
    std::vector<T> row(static_cast<size_t>(p_.windows.width));
    Line from{};
    for (int64_t tap = 0; tap < taps(); ++tap) {
      from = line_of(index * taps() + tap);
      const char* in = column(from.batch, from.channel * taps() + tap);
      const Run run = inside(from.left, p_.stride.width, sizes[2], p_.windows.width);
      for (int64_t y = 0; y < p_.windows.height; ++y) {
        const int64_t at = y * p_.stride.height + from.top;
        if (at < 0 || at >= sizes[1]) continue;
        reader.read(in + y * p_.windows.width * p_.columns.strides[2] * bytes_, p_.columns.strides[2] * bytes_,
                    row.size(), row.data());
        T* const to = plane.data() + at * sizes[2] + from.left;
        for (int64_t x = run.first; x < run.last; ++x) to[x * p_.stride.width] += row[static_cast<size_t>(x)];
      }
    }
    for (int64_t y = 0; y < sizes[1]; ++y) {
      writer.write(plane.data() + y * sizes[2], static_cast<size_t>(sizes[2]), pixel(from, y),
                   p_.image.strides[2] * bytes_);
    }
  }

 private:
  // A row of the columns matrix: its batch, channel, and the offset of its element in the image for the first window.
  struct Line {
    int64_t batch, channel, top, left;
  };

  Line line_of(int64_t line) const {
    const int64_t tap = line % taps();
    const int64_t channel = line / taps();
    return {channel / p_.image.channels, channel % p_.image.channels,
            tap / p_.kernel.width * p_.dilation.height - p_.padding.height,
            tap % p_.kernel.width * p_.dilation.width - p_.padding.width};
  }
  char* column(int64_t batch, int64_t row) const {
    return p_.data + (batch * p_.columns.strides[0] + row * p_.columns.strides[1]) * bytes_;
  }
  // The first pixel of a row of the image.
  char* pixel(const Line& line, int64_t row) const {
    const Image& image = p_.image;
    return image.data +
           (line.batch * image.batch_stride + line.channel * image.channel_stride + row * image.strides[1]) * bytes_;
  }

  Im2colProblem p_;
  int64_t bytes_;
};

template <typename Body>
Plan plan_lines(int64_t count, int64_t values, const Body& body) {
  const double flops = 8 * static_cast<double>(count) * static_cast<double>(values);
  const int64_t grain = std::max<int64_t>(1, 16384 / std::max<int64_t>(1, values));
  return {0, flops, [count, grain, body, threads = threads_for(flops)](void*) {
            parallel_for(count, grain, threads, [&](int64_t first, int64_t last) {
              for (int64_t line = first; line < last; ++line) body(line);
            });
            return Status::ok();
          }};
}

}  // namespace

Plan plan_im2col(Im2colProblem problem) {
  const auto columns = std::make_shared<const Columns>(std::move(problem));
  return plan_lines(columns->lines(), columns->windows(), [columns](int64_t line) {
    with_element(aclDataTypeSize(columns->problem().image.dtype), [&]<typename T>() { columns->take<T>(line); });
  });
}

Plan plan_col2im(Im2colProblem problem) {
  const aclDataType dtype = problem.image.dtype;
  const ElementReader reader(dtype, dtype);
  const ElementWriter writer(dtype, dtype);
  const auto columns = std::make_shared<const Columns>(std::move(problem));
  return plan_lines(columns->problem().batch * columns->problem().image.channels, columns->taps() * columns->windows(),
                    [columns, reader, writer](int64_t channel) {
                      with_compute_type(compute_type_of(columns->problem().image.dtype),
                                        [&]<typename T>() { columns->add<T>(reader, writer, channel); });
                    });
}

}  // namespace softnpu
