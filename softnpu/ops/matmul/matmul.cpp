#include "ops/matmul/matmul.h"

#include <bit>
#include <memory>

#include "base/no_destroy.h"
#include "base/text.h"
#include "ops/matmul/strided_copy.h"
#include "ops/onednn/engine.h"
#include "ops/onednn/primitive_cache.h"

namespace softnpu {
namespace {

using dnnl::memory;

constexpr size_t kAlignment = 64;
constexpr size_t kCachedPrimitives = 1024;

// What oneDNN is told about one operand: a stack of matrices with one contiguous dimension.
struct Layout {
  std::array<int64_t, 3> sizes{};
  std::array<int64_t, 3> strides{};
};

// Everything that a primitive depends on.
struct Key {
  Layout a, b, c;
  int64_t has_row_addend = 0;
  int64_t threads = 0;
  int64_t alpha = 0;  // bit patterns of doubles
  int64_t beta = 0;
};

struct Primitive {
  dnnl::matmul matmul;
  memory::desc a, b, c, row, scratchpad;
};

PrimitiveCache<Key, Primitive>& cache() {
  static NoDestroy<PrimitiveCache<Key, Primitive>> instance(kCachedPrimitives);
  return instance.get();
}

Matrices dense(const Matrices& like) {
  Matrices m = like;
  m.column_stride = 1;
  m.row_stride = like.columns;
  m.batch_stride = like.rows * like.columns;
  m.data = nullptr;
  return m;
}

// Whether oneDNN's kernels take the operand as it lies: one of the two inner dimensions contiguous, no overlap.
bool is_direct(const Matrices& m) {
  auto inner = [](int64_t fast, int64_t slow, int64_t fast_size, int64_t slow_size) {
    return (fast == 1 || fast_size == 1) && (slow >= fast_size || slow_size == 1);
  };
  bool plane = inner(m.column_stride, m.row_stride, m.columns, m.rows) ||
               inner(m.row_stride, m.column_stride, m.rows, m.columns);
  return plane && (m.batch == 1 || m.batch_stride > 0);
}

Layout layout(const Matrices& m) {
  Layout l{{m.batch, m.rows, m.columns}, {m.batch_stride, m.row_stride, m.column_stride}};
  // A dimension of size 1 may have any stride; the ones of a dense matrix are understood best.
  bool transposed = m.rows > 1 && m.row_stride == 1 && (m.columns == 1 || m.column_stride > 1);
  if (m.columns == 1) l.strides[2] = transposed ? m.rows : 1;
  if (m.rows == 1) l.strides[1] = m.columns == 1 || m.column_stride == 1 ? m.columns : 1;
  if (m.batch == 1) l.strides[0] = m.rows * m.columns;
  return l;
}

memory::desc descriptor(const Layout& l) {
  return {{l.sizes.begin(), l.sizes.end()}, memory::data_type::f32, {l.strides.begin(), l.strides.end()}};
}

int64_t bits(double value) { return std::bit_cast<int64_t>(value); }

std::shared_ptr<const Primitive> make_primitive(const Key& key) {
  memory::desc row;
  if (key.has_row_addend != 0) row = descriptor({{1, 1, key.c.sizes[2]}, {key.c.sizes[2], key.c.sizes[2], 1}});
  dnnl::post_ops after;
  const auto alpha = static_cast<float>(std::bit_cast<double>(key.alpha));
  const auto beta = static_cast<float>(std::bit_cast<double>(key.beta));
  if (alpha != 1) after.append_eltwise(dnnl::algorithm::eltwise_linear, alpha, 0);
  if (beta != 0) after.append_sum(beta);
  dnnl::primitive_attr attributes;
  attributes.set_post_ops(after);
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  memory::desc a = descriptor(key.a);
  memory::desc b = descriptor(key.b);
  memory::desc c = descriptor(key.c);
  auto plan = key.has_row_addend != 0 ? dnnl::matmul::primitive_desc(onednn_engine(), a, b, row, c, attributes)
                                      : dnnl::matmul::primitive_desc(onednn_engine(), a, b, c, attributes);
  return std::make_shared<Primitive>(Primitive{dnnl::matmul(plan), a, b, c, row, plan.scratchpad_desc()});
}

void execute(const Primitive& p, float* a, float* b, float* c, float* row, void* scratchpad) {
  const dnnl::engine& engine = onednn_engine();
  std::unordered_map<int, memory> arguments = {{DNNL_ARG_SRC, memory(p.a, engine, a)},
                                               {DNNL_ARG_WEIGHTS, memory(p.b, engine, b)},
                                               {DNNL_ARG_DST, memory(p.c, engine, c)},
                                               {DNNL_ARG_SCRATCHPAD, memory(p.scratchpad, engine, scratchpad)}};
  if (row != nullptr) arguments.emplace(DNNL_ARG_BIAS, memory(p.row, engine, row));
  p.matmul.execute(onednn_stream(), arguments);
}

// A row that oneDNN adds itself, as linear layers have it.
bool is_row(const Matrices& addend) {
  return addend.batch_stride == 0 && addend.row_stride == 0 && (addend.column_stride == 1 || addend.columns == 1);
}

// One planned product. Operands that oneDNN cannot take as they lie go through dense copies in the workspace.
class Product {
 public:
  explicit Product(const MatmulProblem& problem) : problem_(problem) {
    a_ = take(problem.a);
    b_ = take(problem.b);
    c_ = take(problem.c);
    row_ = problem.beta == 1 && problem.alpha == 1 && is_row(problem.addend);
    double flops = 2.0 * static_cast<double>(element_count(problem.c)) * static_cast<double>(problem.a.columns);
    threads_ = threads_for(flops);
    small_ = flops < kSmallFlops;
    Key key{layout(a_.lies),
            layout(b_.lies),
            layout(c_.lies),
            row_ ? 1 : 0,
            threads_,
            bits(problem.alpha),
            bits(row_ ? 0 : problem.beta)};
    ThreadScope scope(threads_);
    primitive_ = cache().get(key, [&] { return make_primitive(key); });
    scratchpad_at_ = reserve(primitive_->scratchpad.get_size());
  }

  bool is_small() const { return small_; }
  uint64_t workspace_bytes() const { return bytes_; }

  std::string describe() const {
    const auto sizes = [](const Matrices& m) { return text("float32[", m.batch, ", ", m.rows, ", ", m.columns, "]"); };
    return text("(", sizes(problem_.a), ", ", sizes(problem_.b), ") -> ", sizes(problem_.c));
  }

  void run(void* workspace) const {
    auto* space = static_cast<char*>(workspace);
    ThreadScope scope(threads_);
    float* a = bring(a_, problem_.a, space);
    float* b = bring(b_, problem_.b, space);
    Matrices c = c_.lies;
    c.data = c_.copied ? reinterpret_cast<float*>(space + c_.at) : problem_.c.data;
    bool adds = problem_.beta != 0 && !row_;
    if (adds && !is_same_place(problem_.addend, c)) scaled_copy(c, problem_.addend, 1);
    execute(*primitive_, a, b, c.data, row_ ? problem_.addend.data : nullptr, space + scratchpad_at_);
    if (c_.copied) scaled_copy(problem_.c, c, 1);
  }

 private:
  struct Operand {
    Matrices lies;  // as oneDNN sees it
    bool copied = false;
    size_t at = 0;  // of the copy, in the workspace
  };

  size_t reserve(size_t bytes) {
    size_t at = bytes_;
    bytes_ += (bytes + kAlignment - 1) / kAlignment * kAlignment;
    return at;
  }

  Operand take(const Matrices& m) {
    if (is_direct(m)) return {m, false, 0};
    return {dense(m), true, reserve(static_cast<size_t>(element_count(m)) * sizeof(float))};
  }

  static float* bring(const Operand& operand, const Matrices& from, char* space) {
    if (!operand.copied) return from.data;
    Matrices to = operand.lies;
    to.data = reinterpret_cast<float*>(space + operand.at);
    scaled_copy(to, from, 1);
    return to.data;
  }

  static bool is_same_place(const Matrices& x, const Matrices& y) {
    return x.data == y.data && x.batch_stride == y.batch_stride && x.row_stride == y.row_stride &&
           x.column_stride == y.column_stride;
  }

  MatmulProblem problem_;
  Operand a_, b_, c_;
  bool row_ = false;  // the addend is a row that the primitive adds
  bool small_ = false;
  int threads_ = 1;
  size_t bytes_ = 0;
  size_t scratchpad_at_ = 0;
  std::shared_ptr<const Primitive> primitive_;
};

}  // namespace

Plan plan_matmul(const MatmulProblem& problem) {
  if (element_count(problem.c) == 0) return {0, true, [](void*) { return Status::ok(); }};
  if (problem.a.columns == 0) {  // an empty sum
    return {0, static_cast<double>(element_count(problem.c)) < kSmallFlops, [problem](void*) {
              scaled_copy(problem.c, problem.addend, problem.beta);
              return Status::ok();
            }};
  }
  auto product = std::make_shared<const Product>(problem);
  return {product->workspace_bytes(), product->is_small(),
          [product](void* workspace) {
            product->run(workspace);
            return Status::ok();
          },
          [product] { return product->describe(); }};
}

}  // namespace softnpu
