// Convolutions by oneDNN, in the layouts that it prefers: images and filters are reordered as needed.

#include <algorithm>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/no_destroy.h"
#include "ops/blas/matmul/copy.h"
#include "ops/blas/matmul/split.h"
#include "ops/blas/onednn/engine.h"
#include "ops/blas/onednn/primitive_cache.h"
#include "ops/blas/onednn/runs.h"
#include "ops/blas/onednn/types.h"
#include "ops/blas/weights/packed_weights.h"
#include "ops/core/dtype.h"
#include "ops/core/workspace.h"
#include "ops/nn/conv/onednn_step.h"
#include "workers/parallel.h"

namespace softnpu {
namespace {

using dnnl::memory;
using Sizes = std::array<int64_t, 6>;  // in oneDNN's order; filters with groups have one dimension more

constexpr size_t kCachedPrimitives = 512;
// From as many positions on that use the filter, of all images, a call reorders it in a small part of its time: a
// packed copy would not be worth its memory.
constexpr int64_t kManyPositions = 1024;

// An operand in memory.
struct Layout {
  Sizes sizes{};
  Sizes strides{};
  int64_t dims = 0;
  int64_t dtype = 0;
  int64_t is_blocked = 0;  // NC1HWC0, oneDNN's nChw16c; strides are 0
};

// All parameters that a primitive depends on.
struct Key {
  int64_t kind = 0;
  int64_t dims = 0;
  int64_t has_bias = 0;
  int64_t threads = 0;
  Layout in, out, filter;
  Triple stride{}, padding{}, padding_after{}, dilation{};
};

enum Operand : size_t { kIn, kOut, kFilter, kOperands };

struct Primitive {
  // Memory descriptors of the operands as the caller has them and as the primitive takes them; if they differ there is
  // a reorder.
  std::array<memory::desc, kOperands> user_md, prim_md;
  std::unique_ptr<PrimitiveRuns> runs;                             // arguments: operands, scratchpad, bias
  std::array<std::unique_ptr<PrimitiveRuns>, kOperands> reorders;  // arguments: from, to, scratchpad
  size_t scratchpad_bytes = 0;                                     // the maximum of all
};

PrimitiveCache<Key, Primitive>& cache() {
  static NoDestroy<PrimitiveCache<Key, Primitive>> instance(kCachedPrimitives);
  return instance.get();
}

memory::dims first(const Sizes& values, int64_t count) { return {values.begin(), values.begin() + count}; }
memory::dims last(const Triple& values, int64_t count) { return {values.end() - count, values.end()}; }

memory::desc user_md_of(const Layout& l) {
  if (l.is_blocked != 0) {
    return {first(l.sizes, l.dims), onednn_type(static_cast<aclDataType>(l.dtype)), memory::format_tag::nChw16c};
  }
  return {first(l.sizes, l.dims), onednn_type(static_cast<aclDataType>(l.dtype)), first(l.strides, l.dims)};
}

memory::desc any_md_of(const Layout& l) {
  return {first(l.sizes, l.dims), onednn_type(static_cast<aclDataType>(l.dtype)), memory::format_tag::any};
}

// oneDNN's reference implementation is slower than softnpu's own kernel.
void refuse_reference(const char* implementation) {
  if (std::string_view(implementation).find("ref") != std::string_view::npos) {
    throw dnnl::error(dnnl_unimplemented, "only the reference");
  }
}

// The primitive of the description `output`; `which` are the argument numbers of its operands.
template <typename Description>
Primitive primitive_of(const Description& output, const std::array<int, kOperands>& which,
                       std::array<memory::desc, kOperands> prim_md, const memory::desc& bias) {
  std::vector<PrimitiveRuns::Argument> arguments;
  for (size_t i = 0; i < kOperands; ++i) arguments.push_back({which[i], prim_md[i]});
  arguments.push_back({DNNL_ARG_SCRATCHPAD, output.scratchpad_desc()});
  if (!bias.is_zero()) arguments.push_back({DNNL_ARG_BIAS, bias});
  Primitive p;
  p.runs = std::make_unique<PrimitiveRuns>(dnnl::primitive(output), std::move(arguments));
  p.prim_md = std::move(prim_md);
  p.scratchpad_bytes = output.scratchpad_desc().get_size();
  return p;
}

// How the primitive takes NC1HWC0 images: in place, or reordered to the layout that it prefers.
enum class BlockedImages : uint8_t { kNative, kReordered };

// Throws dnnl::error if there is no such primitive.
Primitive describe_primitive(const Key& key, BlockedImages images) {
  const dnnl::engine& engine = onednn_engine();
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  const auto image_md = [images](const Layout& l) {
    return l.is_blocked != 0 && images == BlockedImages::kNative ? user_md_of(l) : any_md_of(l);
  };
  const memory::desc in = image_md(key.in);
  const memory::desc out = image_md(key.out);
  const memory::desc filter = any_md_of(key.filter);
  const memory::dims stride = last(key.stride, key.dims);
  const memory::dims dilation = last(key.dilation, key.dims);
  const memory::dims before = last(key.padding, key.dims);
  const memory::dims after = last(key.padding_after, key.dims);
  const auto algorithm = dnnl::algorithm::convolution_direct;
  const bool forward = static_cast<ConvKind>(key.kind) == ConvKind::kForward;
  const memory::desc bias =
      key.has_bias != 0 ? memory::desc({key.out.sizes[1]}, memory::data_type::f32, {1}) : memory::desc();
  // A backward pass needs a forward one with the same types; a result may be float32 while the other operands are not.
  const auto make_forward = [&](const memory::desc& x, const memory::desc& w, const memory::desc& y) {
    const auto kind = forward ? dnnl::prop_kind::forward_inference : dnnl::prop_kind::forward_training;
    return dnnl::convolution_forward::primitive_desc(engine, kind, algorithm, x, w, bias, y, stride, dilation, before,
                                                     after, attributes);
  };
  switch (static_cast<ConvKind>(key.kind)) {
    case ConvKind::kForward: {
      const auto output = make_forward(in, filter, out);
      refuse_reference(output.impl_info_str());
      return primitive_of(output, {DNNL_ARG_SRC, DNNL_ARG_DST, DNNL_ARG_WEIGHTS},
                          {output.src_desc(), output.dst_desc(), output.weights_desc()}, bias);
    }
    case ConvKind::kInputGradient: {
      Layout like = key.in;
      like.dtype = key.out.dtype;
      const dnnl::convolution_backward_data::primitive_desc output(
          engine, algorithm, in, filter, out, stride, dilation, before, after,
          make_forward(image_md(like), filter, out), attributes);
      refuse_reference(output.impl_info_str());
      return primitive_of(output, {DNNL_ARG_DIFF_SRC, DNNL_ARG_DIFF_DST, DNNL_ARG_WEIGHTS},
                          {output.diff_src_desc(), output.diff_dst_desc(), output.weights_desc()}, {});
    }
    case ConvKind::kFilterGradient: break;
  }
  Layout like = key.filter;
  like.dtype = key.in.dtype;
  const dnnl::convolution_backward_weights::primitive_desc output(engine, algorithm, in, filter, out, stride, dilation,
                                                                  before, after, make_forward(in, any_md_of(like), out),
                                                                  attributes);
  refuse_reference(output.impl_info_str());
  return primitive_of(output, {DNNL_ARG_SRC, DNNL_ARG_DIFF_DST, DNNL_ARG_DIFF_WEIGHTS},
                      {output.src_desc(), output.diff_dst_desc(), output.diff_weights_desc()}, {});
}

Operand result_of(ConvKind kind) {
  switch (kind) {
    case ConvKind::kForward: return kOut;
    case ConvKind::kInputGradient: return kIn;
    case ConvKind::kFilterGradient: break;
  }
  return kFilter;
}

Primitive describe_primitive(const Key& key) {
  if (key.in.is_blocked == 0 && key.out.is_blocked == 0) return describe_primitive(key, BlockedImages::kReordered);
  try {
    return describe_primitive(key, BlockedImages::kNative);
  } catch (const dnnl::error& error) {
    if (error.status == dnnl_out_of_memory) throw;
    return describe_primitive(key, BlockedImages::kReordered);
  }
}

std::shared_ptr<const Primitive> make_primitive(const Key& key) {
  Primitive p = describe_primitive(key);
  p.user_md = {user_md_of(key.in), user_md_of(key.out), user_md_of(key.filter)};
  const Operand result = result_of(static_cast<ConvKind>(key.kind));
  for (size_t i = 0; i < kOperands; ++i) {
    if (p.user_md[i] == p.prim_md[i]) continue;
    const bool back = i == result;
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    const memory::desc& from = back ? p.prim_md[i] : p.user_md[i];
    const memory::desc& to = back ? p.user_md[i] : p.prim_md[i];
    const dnnl::reorder::primitive_desc output(onednn_engine(), from, onednn_engine(), to, attributes);
    p.reorders[i] = std::make_unique<PrimitiveRuns>(
        dnnl::reorder(output),
        std::vector<PrimitiveRuns::Argument>{
            {DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}, {DNNL_ARG_SCRATCHPAD, output.scratchpad_desc()}});
    p.scratchpad_bytes = std::max(p.scratchpad_bytes, output.scratchpad_desc().get_size());
  }
  return std::make_shared<const Primitive>(std::move(p));
}

// An operand's memory as matrices, for copies row by row.
struct MatrixView {
  Dims batch;
  GemmOperand matrices;
};

MatrixView matrices_of(const Layout& l, char* data) {
  MatrixView rows;
  const auto n = static_cast<size_t>(l.dims);
  GemmOperand& m = rows.matrices;
  m.dtype = static_cast<aclDataType>(l.dtype);
  m.data = data;
  m.rows = l.sizes[n - 2];
  m.row_stride = l.strides[n - 2];
  m.k = m.k_tile = l.sizes[n - 1];
  m.k_stride = l.strides[n - 1];
  for (size_t i = 0; i + 2 < n; ++i) {
    rows.batch.push_back(l.sizes[i]);
    m.batch_strides.push_back(l.strides[i]);
  }
  return rows;
}

void copy(const Layout& to, char* to_data, const Layout& from, char* from_data, int threads) {
  const MatrixView source = matrices_of(from, from_data);
  copy_matrices(source.batch, matrices_of(to, to_data).matrices, source.matrices, threads);
}

// Splitting pays if each number is used in at least this many products.
constexpr int64_t kMinSplit = 16;

// The dimension of an operand over which the sum runs. The parts of a split operand are concatenated along it.
size_t summed_dim(ConvKind kind, size_t operand) {
  switch (kind) {
    case ConvKind::kForward: return 1;  // the channels of `in`
    case ConvKind::kInputGradient: return operand == kFilter ? 0 : 1;
    case ConvKind::kFilterGradient: break;
  }
  return 0;  // the images
}

// The first factor is an image; if both are images, it is `in`.
SplitFactor factor_of(ConvKind kind, size_t operand) {
  const bool second = operand == kFilter || (kind == ConvKind::kFilterGradient && operand == kOut);
  return second ? SplitFactor::kSecond : SplitFactor::kFirst;
}

// `to` receives the parts concatenated along `dim`.
void split(const Layout& to, char* to_data, const Layout& from, char* from_data, size_t dim, SplitFactor factor,
           int threads) {
  Layout part = to;
  part.sizes[dim] = from.sizes[dim];
  const MatrixView source = matrices_of(from, from_data);
  const int64_t between = from.sizes[dim] * to.strides[dim];
  split_matrices(source.batch, matrices_of(part, to_data).matrices, source.matrices, between, factor, threads);
}

Extents extents_of(const Layout& l) {
  Extents all;
  for (size_t i = 0; i < static_cast<size_t>(l.dims); ++i) all.push_back({l.sizes[i], l.strides[i]});
  return all;
}

bool is_dense(const Layout& l) { return is_dense(extents_of(l)); }

// Whether images are contiguous, one after the other, with the channels as the innermost dimension.
bool has_channels_last(const Layout& l) {
  int64_t next = l.sizes[1];
  for (int64_t i = l.dims; i-- > 2;) {
    if (l.strides[static_cast<size_t>(i)] != next) return false;
    next *= l.sizes[static_cast<size_t>(i)];
  }
  return l.strides[1] == 1 && (l.sizes[0] == 1 || l.strides[0] == next);
}

// Contiguous strides in the order of the dimensions.
Layout contiguous(const Layout& like, aclDataType dtype) {
  Layout l = like;
  l.dtype = dtype;
  int64_t next = 1;
  for (int64_t i = l.dims; i-- > 0;) {
    l.strides[static_cast<size_t>(i)] = next;
    next *= l.sizes[static_cast<size_t>(i)];
  }
  return l;
}

size_t element_bytes(const Layout& l) { return aclDataTypeSize(static_cast<aclDataType>(l.dtype)); }

Checked bytes_of(const Layout& l) {
  Checked bytes = checked(element_bytes(l));
  for (int64_t i = 0; i < l.dims; ++i) bytes = bytes * l.sizes[static_cast<size_t>(i)];
  return bytes;
}

Layout layout_of(const Image& image, int64_t batch, size_t dims) {
  Layout l{
      {batch, image.channels}, {image.batch_stride, image.channel_stride}, 2, image.dtype, image.is_blocked ? 1 : 0};
  for (size_t i = 3 - dims; i < 3; ++i) {
    l.sizes[static_cast<size_t>(l.dims)] = image.sizes[i];
    l.strides[static_cast<size_t>(l.dims++)] = image.strides[i];
  }
  return l;
}

Layout layout_of(const ConvProblem& p) {
  Layout l;
  l.dtype = p.filter.dtype;
  const auto add = [&l](int64_t size, int64_t stride) {
    l.sizes[static_cast<size_t>(l.dims)] = size;
    l.strides[static_cast<size_t>(l.dims++)] = stride;
  };
  if (p.groups > 1) add(p.groups, p.out_channels() * p.filter.out_stride);
  add(p.out_channels(), p.filter.out_stride);
  add(p.in_channels(), p.filter.in_stride);
  for (size_t i = 3 - p.dims; i < 3; ++i) add(p.filter.sizes[i], p.filter.strides[i]);
  return l;
}

// 1 x 1 filters do not depend on rows: a large image is split into several images of fewer rows, so that values stay in
// the caches until the next stage reads them.
ConvProblem in_pieces(const ConvProblem& given) {
  ConvProblem p = given;
  const bool is_point = p.filter.taps() == 1 && p.stride == Triple{1, 1, 1} && p.padding == Triple{};
  if (p.kind == ConvKind::kFilterGradient || p.dims != 2 || !is_point || p.in.sizes != p.out.sizes) return p;
  for (const Image* image : {&p.in, &p.out}) {
    if (image->is_blocked || !has_channels_last(layout_of(*image, p.batch, p.dims))) return p;
  }
  const int64_t row = p.in.sizes[2] * (p.in.channels + p.out.channels) * static_cast<int64_t>(aclDataTypeSize(p.dtype));
  const int64_t rows = images_at_once(p.in.sizes[1], row);
  p.batch *= p.in.sizes[1] / rows;
  for (Image* image : {&p.in, &p.out}) {
    image->sizes[1] = rows;
    image->batch_stride = rows * image->strides[1];
  }
  return p;
}

MemoryAccess memory_of(const Layout& l, const char* data) { return memory_of(extents_of(l), data, element_bytes(l)); }

class Convolution final : public FusionRoot {
 public:
  // Throws dnnl::error if oneDNN does not support the problem.
  explicit Convolution(const ConvProblem& problem)
      : p_(in_pieces(problem)),
        result_(result_of(problem.kind)),
        threads_(onednn_threads(problem.flops())),
        is_split_(is_split(problem)),
        images_per_run_(p_.batch) {
    const bool native = onednn_multiplies(p_.dtype);
    user_layouts_ = {layout_of(p_.in, p_.batch, p_.dims), layout_of(p_.out, p_.batch, p_.dims), layout_of(p_)};
    data_ = {p_.in.data, p_.out.data, p_.filter.data};
    // oneDNN's backward pass has no bias: it is added to the result in float32 before the rounding.
    adds_bias_ = p_.bias != nullptr && p_.kind == ConvKind::kInputGradient;
    for (size_t i = 0; i < kOperands; ++i) {
      const bool widens = !native || (adds_bias_ && i == result_);
      const aclDataType dtype = widens ? ACL_FLOAT : static_cast<aclDataType>(user_layouts_[i].dtype);
      staged_layouts_[i] = user_layouts_[i];
      if (user_layouts_[i].is_blocked != 0) {
        if (widens) throw dnnl::error(dnnl_unimplemented, "NC1HWC0 images are taken as they are");
        continue;
      }
      if (is_split_ && i != result_) {
        Layout parts = user_layouts_[i];
        parts.sizes[summed_dim(p_.kind, i)] *= kSplitParts;
        stage_as(i, contiguous(parts, split_dtype()));
        continue;
      }
      const Layout plain = contiguous(user_layouts_[i], dtype);
      const bool ordered = !adds_bias_ || i != result_ || user_layouts_[i].strides == plain.strides ||
                           has_channels_last(user_layouts_[i]);
      if (user_layouts_[i].dtype == dtype && is_dense(user_layouts_[i]) && ordered) continue;
      stage_as(i, plain);
    }
    if (may_part()) {
      images_per_run_ =
          images_at_once(p_.batch, (bytes_of(user_layouts_[kIn]) + bytes_of(user_layouts_[kOut])).value() / p_.batch);
      staged_layouts_[kIn].sizes[0] = staged_layouts_[kOut].sizes[0] = images_per_run_;
    }
    Key key;
    key.kind = static_cast<int64_t>(p_.kind);
    key.dims = static_cast<int64_t>(p_.dims);
    key.has_bias = p_.bias != nullptr && !adds_bias_ ? 1 : 0;
    key.threads = threads_;
    key.in = staged_layouts_[kIn];
    key.out = staged_layouts_[kOut];
    key.filter = staged_layouts_[kFilter];
    key.stride = p_.stride;
    key.padding = p_.padding;
    for (size_t i = 0; i < 3; ++i) {
      key.dilation[i] = p_.dilation[i] - 1;
      key.padding_after[i] = (p_.out.sizes[i] - 1) * p_.stride[i] + (p_.filter.sizes[i] - 1) * p_.dilation[i] + 1 -
                             p_.in.sizes[i] - p_.padding[i];
    }
    const ThreadScope scope(threads_);
    primitive_ = cache().get(key, [&] { return make_primitive(key); });
    for (size_t i = 0; i < kOperands; ++i) {
      if (primitive_->reorders[i]) reordered_at_[i] = space_.reserve(checked(primitive_->prim_md[i].get_size()));
    }
    if (p_.bias != nullptr) bias_at_ = space_.reserve(checked(p_.output().channels) * sizeof(float));
    scratchpad_at_ = space_.reserve(checked(primitive_->scratchpad_bytes));
  }

  Checked workspace_bytes() const { return space_.bytes(); }
  uint64_t packed_bytes() const {
    const bool packs = result_ != kFilter && primitive_->reorders[kFilter] && !has_many_positions();
    return packs ? primitive_->prim_md[kFilter].get_size() : 0;
  }

  // Whether the result is contiguous in memory and separate from the operands.
  bool is_fusible() const {
    if (user_layouts_[kIn].is_blocked != 0 || user_layouts_[kOut].is_blocked != 0) return false;
    return result_ != kFilter && !is_staged_[result_] && is_dense(user_layouts_[result_]);
  }
  MemoryAccess output() const override {
    MemoryAccess memory = memory_of(user_layouts_[result_], data_[result_]);
    memory.element_bytes = static_cast<uint32_t>(element_bytes(user_layouts_[result_]));
    memory.is_written = true;
    return memory;
  }
  void add_accesses(const void* workspace, std::vector<MemoryAccess>* to) const override {
    for (size_t i = 0; i < kOperands; ++i) {
      if (i != result_) to->push_back(memory_of(user_layouts_[i], data_[i]));
    }
    if (p_.bias != nullptr) to->push_back(bias_access(p_));
    const auto* space = static_cast<const char*>(workspace);
    if (space_.bytes().bytes() > 0) to->push_back({space, space + space_.bytes().bytes(), 0, true});
  }
  void compute(void* workspace, char* to, const OnReady& on_ready) const override {
    auto* space = static_cast<char*>(workspace);
    const auto all =
        bytes_of(user_layouts_[result_]).value() / static_cast<int64_t>(element_bytes(user_layouts_[result_]));
    const int64_t image = all / p_.batch;
    const bool by_images = images_per_run_ < p_.batch && user_layouts_[result_].strides[0] == image;
    run(space, to, [&](int64_t first, int64_t last) {
      if (by_images) on_ready(first * image, last * image);
    });
    if (!by_images) on_ready(0, all);
  }

  void run(char* space) const {
    run(space, data_[result_], [](int64_t, int64_t) {});
  }

 private:
  void stage_as(size_t i, const Layout& layout) {
    staged_layouts_[i] = layout;
    is_staged_[i] = true;
    staged_at_[i] = space_.reserve(bytes_of(layout));
  }

  // Calls `made(first, last)` as soon as those images are computed.
  template <typename OutputImages>
  void run(char* space, char* to, const OutputImages& output) const {
    const ThreadScope scope(threads_);
    std::array<void*, kOperands + 2> arguments{};
    arguments[kOperands] = space + scratchpad_at_;
    arguments[kOperands + 1] = space + bias_at_;
    if (p_.bias != nullptr) read_bias(p_, reinterpret_cast<float*>(space + bias_at_));
    std::shared_ptr<void> packed;
    if (result_ != kFilter && primitive_->reorders[kFilter]) packed = packed_filter(space);
    if (packed != nullptr) {
      arguments[kFilter] = packed.get();
    } else {
      arguments[kFilter] = primitive_->reorders[kFilter] ? space + reordered_at_[kFilter] : staged_data(kFilter, space);
      if (result_ != kFilter) reorder_operand(kFilter, 0, space, arguments[kFilter]);
    }
    for (int64_t image = 0; image < p_.batch; image += images_per_run_) {
      run_images(image, space, to, arguments);
      output(image, image + images_per_run_);
    }
    if (is_staged_[result_])
      copy(user_layouts_[result_], to, staged_layouts_[result_], result_data(space, to), threads_);
  }

  // Computes images_per_run_ images, or the filter's gradient from all images.
  void run_images(int64_t first, char* space, char* to, std::span<void*, kOperands + 2> arguments) const {
    for (size_t i : {size_t{kIn}, size_t{kOut}}) {
      char* user = (i == result_ ? result_data(space, to) : staged_data(i, space)) + offset_of(first, i);
      arguments[i] = primitive_->reorders[i] ? space + reordered_at_[i] : user;
      if (i != result_) reorder_operand(i, offset_of(first, i), space, arguments[i]);
    }
    const bool has_bias = p_.bias != nullptr && !adds_bias_;
    primitive_->runs->execute(arguments.first(kOperands + (has_bias ? 2 : 1)));
    char* result = result_data(space, to) + (result_ == kFilter ? 0 : offset_of(first, result_));
    if (const auto& back = primitive_->reorders[result_]) {
      reorder(*back, arguments[result_], result, space + scratchpad_at_);
    }
    if (adds_bias_) add_bias(reinterpret_cast<float*>(result), reinterpret_cast<float*>(space + bias_at_));
  }

  // Whether images may be computed in several runs.
  bool may_part() const {
    const bool are_independent = !is_staged_[kIn] && !is_staged_[kOut] && user_layouts_[kIn].is_blocked == 0 &&
                                 user_layouts_[kOut].is_blocked == 0;
    return result_ != kFilter && are_independent && p_.batch > 1;
  }

  // The distance of `image` from the first one, in bytes.
  ptrdiff_t offset_of(int64_t image, size_t operand) const {
    const Layout& l = user_layouts_[operand];
    return image * l.strides[0] * static_cast<ptrdiff_t>(element_bytes(l));
  }

  static void reorder(const PrimitiveRuns& runs, void* from, void* to, void* scratchpad) {
    const std::array<void*, 3> arguments{from, to, scratchpad};
    runs.execute(arguments);
  }

  // Operand `i` as the source of its reorder, or of the primitive if there is no reorder.
  char* staged_data(size_t i, char* space) const { return is_staged_[i] ? space + staged_at_[i] : data_[i]; }

  // The address to which the primitive, or the reorder after it, writes the result for `to`.
  char* result_data(char* space, char* to) const { return is_staged_[result_] ? space + staged_at_[result_] : to; }

  // Reorders operand `i`, from `offset` on, to `location`, in the layout that the primitive takes.
  void reorder_operand(size_t i, ptrdiff_t offset, char* space, void* location) const {
    char* from = staged_data(i, space) + offset;
    if (is_split_) {
      split(staged_layouts_[i], from, user_layouts_[i], data_[i], summed_dim(p_.kind, i), factor_of(p_.kind, i),
            threads_);
    } else if (is_staged_[i]) {
      copy(staged_layouts_[i], from, user_layouts_[i], data_[i], threads_);
    }
    if (const auto& runs = primitive_->reorders[i]) reorder(*runs, from, location, space + scratchpad_at_);
  }

  bool has_many_positions() const { return p_.batch * p_.out.spatial_size() >= kManyPositions; }

  std::shared_ptr<void> packed_filter(char* space) const {
    if (has_many_positions()) return nullptr;
    const Layout& user = user_layouts_[kFilter];
    const std::string_view layout(reinterpret_cast<const char*>(&user), sizeof user);
    return PackedWeights::get().find(
        {p_.filter.source.address, p_.filter.source.bytes, layout},
        [&] { return PackedLayout(primitive_->prim_md[kFilter].get_size(), primitive_->prim_md[kFilter]); },
        [&](void* to) { reorder_operand(kFilter, 0, space, to); });
  }

  // Adds to the computed images, which are contiguous or have their channels last.
  void add_bias(float* image, const float* bias) const {
    const Layout& l = staged_layouts_[result_];
    const int64_t channels = l.sizes[1];
    int64_t positions = 1;
    for (int64_t i = 2; i < l.dims; ++i) positions *= l.sizes[static_cast<size_t>(i)];
    if (has_channels_last(l)) {
      return parallel_for(l.sizes[0] * positions, 64, threads_, [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row) {
          for (int64_t c = 0; c < channels; ++c) image[row * channels + c] += bias[c];
        }
      });
    }
    parallel_for(l.sizes[0] * channels, 1, threads_, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        float* plane = image + row * positions;
        const float value = bias[row % channels];
        for (int64_t i = 0; i < positions; ++i) plane[i] += value;
      }
    });
  }

  const ConvProblem p_;
  const Operand result_;
  const int threads_;
  const bool is_split_;  // whether inputs are split
  int64_t images_per_run_;
  std::array<Layout, kOperands> user_layouts_{}, staged_layouts_{};  // as the caller has them; with staging copies
  std::array<char*, kOperands> data_{};
  std::array<bool, kOperands> is_staged_{};
  std::array<size_t, kOperands> staged_at_{}, reordered_at_{};
  bool adds_bias_ = false;
  Workspace space_;
  size_t bias_at_ = 0;
  size_t scratchpad_at_ = 0;
  std::shared_ptr<const Primitive> primitive_;
};

}  // namespace

bool is_split(const ConvProblem& p) {
  const bool is_large = std::min(p.in.channels, p.out.channels) >= kMinSplit;
  const bool is_plain = p.groups == 1 && !p.in.is_blocked && !p.out.is_blocked;
  const int64_t longest = std::max({p.in.channels, p.out.channels, p.batch});
  return p.allows_less && p.splits && is_plain && is_large && onednn_counts({longest * kSplitParts});
}

Attempt<Step> onednn_convolution(const ConvProblem& problem) { return onednn_step<Convolution>(problem); }

}  // namespace softnpu
