#include "ops/blas/matmul/onednn.h"

#include <algorithm>
#include <array>
#include <bit>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/no_destroy.h"
#include "base/small_vector.h"
#include "ops/blas/matmul/copy.h"
#include "ops/blas/matmul/product.h"
#include "ops/blas/matmul/split.h"
#include "ops/blas/onednn/engine.h"
#include "ops/blas/onednn/primitive_cache.h"
#include "ops/blas/onednn/runs.h"
#include "ops/blas/onednn/types.h"
#include "ops/blas/weights/packed_weights.h"
#include "ops/core/workspace.h"
#include "workers/parallel.h"

namespace softnpu {
namespace {

using dnnl::memory;

constexpr size_t kCachedPrimitives = 1024;
// Packed weights serve float32 products of fewer rows. A comparison would come before they are packed.
constexpr int64_t kMinSplitRows = 513;

// One operand in oneDNN's form: a stack of matrices with one contiguous dimension.
struct Layout {
  std::array<int64_t, 3> sizes{};
  std::array<int64_t, 3> strides{};
};

// The caller's layout of the second factor, and the type in which it is multiplied: the key of its packed copies.
struct UserWeights {
  Layout layout;
  int64_t dtype = 0;
  int64_t multiplied = 0;
  int64_t k_tile = 0;  // of blocked weights
  int64_t k_tile_stride = 0;
};

// All parameters that a primitive depends on.
struct Key {
  Layout a, b, c;
  int64_t dtype = 0;
  int64_t result = 0;  // the result's dtype
  int64_t has_bias = 0;
  int64_t threads = 0;
  int64_t alpha = 0;  // bit patterns of doubles
  int64_t beta = 0;
  int64_t packed = 0;  // b has the layout that the kernel prefers
};

struct Primitive {
  Primitive(const dnnl::matmul::primitive_desc& plan, std::vector<PrimitiveRuns::Argument> arguments)
      : implementation(plan.impl_info_str()),
        weights(plan.weights_desc()),
        runs(dnnl::matmul(plan), std::move(arguments)),
        scratchpad_bytes(plan.scratchpad_desc().get_size()) {}

  std::string implementation;
  memory::desc weights;
  PrimitiveRuns runs;                   // arguments: a, b, c, scratchpad and, if any, bias
  std::unique_ptr<PrimitiveRuns> pack;  // arguments: b, packed b, scratchpad; of packed primitives
  size_t scratchpad_bytes;
};

// Packed weights save a kernel its own packing, which matters little for many rows. Packing takes as long as some
// products.
constexpr int64_t kMaxRows = 512;
constexpr int kMinUses = 8;

PrimitiveCache<Key, Primitive>& cache() {
  static NoDestroy<PrimitiveCache<Key, Primitive>> instance(kCachedPrimitives);
  return instance.get();
}

// Whether each dimension of a stack of matrices fits within a step of the next larger one, as oneDNN requires.
bool is_nested(const GemmOperand& m, int64_t stack) {
  std::array<std::pair<int64_t, int64_t>, 3> dims = {// stride, size
                                                     std::pair{m.row_stride, m.rows},
                                                     {m.k_stride, m.k},
                                                     {0, 1}};
  if (stack > 1 && m.batch_strides.back() != 0) dims[2] = {m.batch_strides.back(), stack};
  std::ranges::sort(dims);
  int64_t extent = 0;
  for (const auto& [stride, size] : dims) {
    if (size == 1) continue;
    if (stride < extent) return false;
    extent = stride * size;
  }
  return true;
}

// Whether oneDNN's kernels can use the operand in place: one of the two inner dimensions is contiguous, no overlap.
bool is_direct(const GemmOperand& m, int64_t stack) {
  if (m.is_tiled() || !is_nested(m, stack)) return false;
  const auto inner = [](int64_t fast, int64_t slow, int64_t fast_size, int64_t slow_size) {
    return (fast == 1 || fast_size == 1) && (slow >= fast_size || slow_size == 1);
  };
  return inner(m.k_stride, m.row_stride, m.k, m.rows) || inner(m.row_stride, m.k_stride, m.rows, m.k);
}

// Dense strides for the same matrices, contiguous in the dimension with the smallest stride. Broadcast batch dimensions
// stay broadcast.
GemmOperand dense(const GemmOperand& like, const Dims& batch, aclDataType dtype) {
  GemmOperand m = like;
  m.dtype = dtype;
  m.data = nullptr;
  const bool by_rows = like.rows > 1 && like.row_stride < like.k_stride;
  m.row_stride = by_rows ? 1 : m.k;
  m.k_stride = by_rows ? m.rows : 1;
  m.k_tile = m.k;
  int64_t next = m.rows * m.k;
  for (size_t i = batch.size(); i-- > 0;) {
    if (like.batch_strides[i] == 0) continue;
    m.batch_strides[i] = next;
    next *= batch[i];
  }
  return m;
}

Checked dense_bytes(const GemmOperand& m, const Dims& batch) {
  Checked bytes = checked(m.rows) * m.k * aclDataTypeSize(m.dtype);
  for (size_t i = 0; i < batch.size(); ++i) bytes = bytes * (m.batch_strides[i] == 0 ? 1 : batch[i]);
  return bytes;
}

// `m` as a stack of up to `stack` matrices of [rows, columns]; one if it is broadcast.
Layout layout(const GemmOperand& m, int64_t stack, bool rows_are_outer) {
  const int64_t count = stack == 1 || m.batch_strides.back() == 0 ? 1 : stack;
  Layout l{{count, m.rows, m.k}, {0, m.row_stride, m.k_stride}};
  if (!rows_are_outer) {
    std::swap(l.sizes[1], l.sizes[2]);
    std::swap(l.strides[1], l.strides[2]);
  }
  const int64_t rows = l.sizes[1];
  const int64_t columns = l.sizes[2];
  // A dimension of size 1 may have any stride; oneDNN handles those of a dense matrix best.
  const bool transposed = rows > 1 && l.strides[1] == 1 && (columns == 1 || l.strides[2] > 1);
  if (columns == 1) l.strides[2] = transposed ? rows : 1;
  if (rows == 1) l.strides[1] = columns == 1 || l.strides[2] == 1 ? columns : 1;
  l.strides[0] = count == 1 ? rows * columns : m.batch_strides.back();
  return l;
}

memory::desc descriptor(const Layout& l, int64_t dtype) {
  return {{l.sizes.begin(), l.sizes.end()},
          onednn_type(static_cast<aclDataType>(dtype)),
          {l.strides.begin(), l.strides.end()}};
}

int64_t bits(double value) { return std::bit_cast<int64_t>(value); }

std::shared_ptr<const Primitive> make_primitive(const Key& key) {
  const int64_t columns = key.c.sizes[2];
  memory::desc bias;
  if (key.has_bias != 0) bias = descriptor({{1, 1, columns}, {columns, columns, 1}}, key.result);
  dnnl::post_ops after;
  const auto alpha = static_cast<float>(std::bit_cast<double>(key.alpha));
  const auto beta = static_cast<float>(std::bit_cast<double>(key.beta));
  if (alpha != 1) after.append_eltwise(dnnl::algorithm::eltwise_linear, alpha, 0);
  if (beta != 0) after.append_sum(beta);
  dnnl::primitive_attr attributes;
  attributes.set_post_ops(after);
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  const memory::desc a = descriptor(key.a, key.dtype);
  const memory::desc user_md = descriptor(key.b, key.dtype);
  const memory::desc b =
      key.packed == 0 ? user_md : memory::desc(user_md.get_dims(), user_md.get_data_type(), memory::format_tag::any);
  const memory::desc c = descriptor(key.c, key.result);
  dnnl::primitive_attr own_scratchpad;
  own_scratchpad.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  const auto plan = key.has_bias != 0 ? dnnl::matmul::primitive_desc(onednn_engine(), a, b, bias, c, attributes)
                                      : dnnl::matmul::primitive_desc(onednn_engine(), a, b, c, attributes);
  std::vector<PrimitiveRuns::Argument> arguments = {{DNNL_ARG_SRC, a},
                                                    {DNNL_ARG_WEIGHTS, plan.weights_desc()},
                                                    {DNNL_ARG_DST, c},
                                                    {DNNL_ARG_SCRATCHPAD, plan.scratchpad_desc()}};
  if (key.has_bias != 0) arguments.push_back({DNNL_ARG_BIAS, bias});
  auto created = std::make_shared<Primitive>(plan, std::move(arguments));
  if (key.packed != 0) {
    const dnnl::reorder::primitive_desc pack(onednn_engine(), user_md, onednn_engine(), created->weights,
                                             own_scratchpad);
    created->pack = std::make_unique<PrimitiveRuns>(
        dnnl::reorder(pack),
        std::vector<PrimitiveRuns::Argument>{
            {DNNL_ARG_FROM, user_md}, {DNNL_ARG_TO, created->weights}, {DNNL_ARG_SCRATCHPAD, pack.scratchpad_desc()}});
    created->scratchpad_bytes = std::max(created->scratchpad_bytes, pack.scratchpad_desc().get_size());
  }
  return created;
}

// The number of matrices per run of the primitive: the last dimension of the batch, unless both factors are broadcast
// along it, which oneDNN does not support.
int64_t stack_of(const MatmulProblem& p) {
  if (p.batch.empty() || (p.a.batch_strides.back() == 0 && p.b.batch_strides.back() == 0)) return 1;
  const bool has_parts = p.at_once != 0 && p.batch.back() % p.at_once == 0;  // false after simplify() changed the batch
  return has_parts ? p.at_once : p.batch.back();
}

// How the threads share a batch: all compute one stack of matrices after another, or each computes matrices on its own.
enum class Sharing : uint8_t { kGroup, kApart };

// A planned product: one run of the primitive per stack of the batch, or per matrix.
template <Sharing kSharing>
class Product final : public FusionRoot {
 public:
  explicit Product(const MatmulProblem& problem)
      : p_(problem), stack_(kSharing == Sharing::kApart ? 1 : stack_of(problem)), is_split_(is_split(problem)) {
    threads_ = onednn_threads(p_.flops());
    run_threads_ = kSharing == Sharing::kApart ? 1 : threads_;
    const bool native = onednn_multiplies(p_.dtype);
    const aclDataType dtype = native ? p_.dtype : ACL_FLOAT;
    a_ = is_split_ ? take_split(p_.a) : take(p_.a, dtype);
    b_ = is_split_ ? take_split(p_.b) : take(p_.b, dtype);
    c_ = take(p_.c, native ? p_.c.dtype : ACL_FLOAT);
    const double alpha = p_.alpha.as_double();
    const double beta = p_.adds ? p_.beta.as_double() : 0;
    has_bias_ = alpha == 1 && beta == 1 && p_.addend.dtype == c_.layout.dtype && is_bias_row(p_.addend);
    key_ = {layout(a_.layout, stack_, true),
            layout(b_.layout, stack_, false),
            layout(c_.layout, stack_, true),
            a_.layout.dtype,
            c_.layout.dtype,
            has_bias_ ? 1 : 0,
            run_threads_,
            bits(alpha),
            bits(has_bias_ ? 0 : beta)};
    ThreadScope scope(run_threads_);
    primitive_ = cache().get(key_, [&] { return make_primitive(key_); });
    for (int i = 0; i < threads_ / run_threads_; ++i) {
      scratchpads_at_.push_back(space_.reserve(checked(primitive_->scratchpad_bytes)));
    }
    may_pack_ = !is_split_ && p_.batch.empty() && p_.b_source.address != nullptr && p_.a.rows <= kMaxRows &&
                has_packing_kernel();
  }

  Checked workspace_bytes() const { return space_.bytes(); }
  std::string describe() const { return softnpu::describe(p_); }

  // Whether the result is contiguous in memory, and not an addend in place.
  bool is_fusible() const {
    if (c_.is_staged || p_.c.is_tiled() || (p_.adds && is_same_memory(p_.addend, p_.c))) return false;
    const MemoryAccess memory = memory_of(p_.c, p_.batch);
    const int64_t elements = p_.batch_count() * p_.c.rows * p_.c.k;
    return memory.end - memory.begin == elements * static_cast<int64_t>(aclDataTypeSize(p_.c.dtype));
  }
  MemoryAccess output() const override { return output_access(p_); }
  void add_accesses(const void* workspace, std::vector<MemoryAccess>* to) const override {
    softnpu::add_accesses(p_, workspace, workspace_bytes().bytes(), to);
  }
  void compute(void* workspace, char* to, const OnReady& on_ready) const override {
    const int64_t matrix = p_.c.rows * p_.c.k;
    const bool in_order = p_.batch.size() == 1 && p_.c.batch_strides[0] == matrix;
    run(workspace, to, [&](int64_t first, int64_t last) {
      if (in_order) on_ready(first * matrix, last * matrix);
    });
    if (!in_order) on_ready(0, p_.batch_count() * matrix);
  }

  void run(void* workspace) const {
    run(workspace, p_.c.data, [](int64_t, int64_t) {});
  }

 private:
  // Writes the result to `to`. Calls `made(first, last)` as soon as those matrices of the batch are computed.
  template <typename ResultMatrices>
  void run(void* workspace, char* to, const ResultMatrices& created) const {
    auto* space = static_cast<char*>(workspace);
    const ThreadScope scope(threads_);
    const GemmOperand a = stage(a_, p_.a, SplitFactor::kFirst, space);
    GemmOperand c = c_.layout;
    c.data = c_.is_staged ? space + c_.at : to;
    if (p_.adds && !has_bias_ && !is_same_memory(p_.addend, c)) copy_matrices(p_.batch, c, p_.addend, threads_);
    if (const std::shared_ptr<void> packed = may_pack_ ? packed_weights(space) : nullptr; packed != nullptr) {
      const std::array<void*, 5> arguments{a.data, packed.get(), c.data, space + scratchpads_at_[0], p_.addend.data};
      packed_->runs.execute(std::span(arguments).first(has_bias_ ? 5 : 4));
      created(0, 1);
    } else {
      run_stacks(a, stage(b_, p_.b, SplitFactor::kSecond, space), c, space, created);
    }
    if (c_.is_staged) copy_matrices(p_.batch, p_.c, c, threads_);
  }

  struct Operand {
    GemmOperand layout;  // in oneDNN's form
    bool is_staged = false;
    size_t at = 0;  // offset of the copy in the workspace
  };

  template <typename ResultMatrices>
  void run_stacks(const GemmOperand& a, const GemmOperand& b, const GemmOperand& c, char* space,
                  const ResultMatrices& created) const {
    const auto run_stack = [&](int64_t i, size_t scratchpad) {
      const auto at = [&](const GemmOperand& m) { return m.at(batch_offset(p_.batch, m.batch_strides, i)); };
      const std::array<void*, 5> arguments{at(a), at(b), at(c), space + scratchpad, p_.addend.data};
      primitive_->runs.execute(std::span(arguments).first(has_bias_ ? 5 : 4));
    };
    if constexpr (kSharing == Sharing::kApart) {
      parallel_for_slots(p_.batch_count(), 1, threads_, [&](int64_t first, int64_t last, int slot) {
        const ThreadScope alone(1);
        for (int64_t i = first; i < last; ++i) run_stack(i, scratchpads_at_[static_cast<size_t>(slot)]);
      });
      return created(0, p_.batch_count());
    }
    for (int64_t i = 0; i < p_.batch_count(); i += stack_) {
      run_stack(i, scratchpads_at_[0]);
      created(i, i + stack_);
    }
  }

  // The kernels that pack the second factor into blocks, which they otherwise do in each call. Results are identical
  // either way (not so for 16-bit types with long sums), and the blocks do not depend on the number of rows.
  bool has_packing_kernel() const {
    return key_.dtype == ACL_FLOAT && onednn_packs_weights(primitive_->implementation);
  }

  std::shared_ptr<void> packed_weights(char* space) const {
    const auto packed_layout = [&]() -> PackedLayout {
      std::call_once(packs_, [&] {
        Key key = key_;
        key.packed = 1;
        try {
          auto created = cache().get(key, [&] { return make_primitive(key); });
          const bool fits = created->implementation == primitive_->implementation &&
                            created->scratchpad_bytes <= primitive_->scratchpad_bytes;
          if (fits && created->weights != primitive_->weights) packed_ = std::move(created);
        } catch (const dnnl::error&) {
          packed_ = nullptr;  // falls back to the unpacked primitive
        }
      });
      if (packed_ == nullptr) return {};
      return {packed_->weights.get_size(), packed_->weights};
    };
    const auto pack = [&](void* to) {
      const std::array<void*, 3> arguments{stage(b_, p_.b, SplitFactor::kSecond, space).data, to,
                                           space + scratchpads_at_[0]};
      packed_->pack->execute(arguments);
    };
    const UserWeights user{layout(p_.b, 1, false), p_.b.dtype, key_.dtype, p_.b.k_tile, p_.b.k_tile_stride};
    const std::string_view bytes(reinterpret_cast<const char*>(&user), sizeof user);
    return PackedWeights::get().find({p_.b_source.address, p_.b_source.bytes, bytes, kMinUses}, packed_layout, pack);
  }

  Operand take(const GemmOperand& m, aclDataType dtype) {
    return m.dtype == dtype && is_direct(m, stack_) ? Operand{m, false, 0} : take_staged(m, dtype);
  }

  Operand take_split(GemmOperand m) {
    m.k *= kSplitParts;
    return take_staged(m, split_dtype());
  }

  Operand take_staged(const GemmOperand& m, aclDataType dtype) {
    const GemmOperand staged = dense(m, p_.batch, dtype);
    return {staged, true, space_.reserve(dense_bytes(staged, p_.batch))};
  }

  // Copies each matrix once, even if it is broadcast.
  GemmOperand stage(const Operand& operand, const GemmOperand& from, SplitFactor factor, char* space) const {
    if (!operand.is_staged) return from;
    GemmOperand to = operand.layout;
    to.data = space + operand.at;
    Dims batch = p_.batch;
    for (size_t i = 0; i < batch.size(); ++i) {
      if (from.batch_strides[i] == 0) batch[i] = 1;
    }
    if (is_split_) {
      split_matrices(batch, to, from, from.k * to.k_stride, factor, threads_);
    } else {
      copy_matrices(batch, to, from, threads_);
    }
    return to;
  }

  const MatmulProblem p_;
  const int64_t stack_;
  const bool is_split_;
  Operand a_, b_, c_;
  bool has_bias_ = false;  // the addend is a row, passed to the primitive as its bias
  int threads_ = 1;
  int run_threads_ = 1;  // of one run of the primitive
  Workspace space_;
  SmallVector<size_t, 2> scratchpads_at_;  // for each run at the same time
  Key key_;
  std::shared_ptr<const Primitive> primitive_;
  bool may_pack_ = false;
  mutable std::once_flag packs_;  // guards packed_
  mutable std::shared_ptr<const Primitive> packed_;
};

}  // namespace

Attempt<Plan> plan_onednn_matmul(const MatmulProblem& problem) {
  return plan_product<Product<Sharing::kGroup>>(problem);
}

Attempt<Plan> plan_matrices_apart(const MatmulProblem& problem) {
  const int threads = onednn_threads(problem.flops());
  if (threads == 1 || problem.batch_count() < threads) return Refusal{"there are fewer matrices than threads"};
  return plan_product<Product<Sharing::kApart>>(problem);
}

Attempt<Plan> plan_split_matmul(const MatmulProblem& problem) {
  if (split_mode() != Split::kTuned) return Refusal{"this CPU does not multiply matrices of bfloat16"};
  const bool packs = problem.batch.empty() && problem.b_source.address != nullptr && problem.a.rows < kMinSplitRows;
  if (packs) return Refusal{"packed weights serve few rows"};
  MatmulProblem in_parts = problem;
  in_parts.splits = true;
  if (!problem.allows_less || !is_split(in_parts)) return Refusal{"HF32 is not allowed, or the factors are small"};
  return plan_onednn_matmul(in_parts);
}

}  // namespace softnpu
