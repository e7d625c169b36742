#include "ops/blas/matmul/panels.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <memory>
#include <string_view>
#include <utility>

#include "base/threads.h"
#include "opgen/onednn_present.h"
#include "ops/blas/matmul/panel_kernels.h"
#include "ops/blas/matmul/product.h"
#include "ops/blas/onednn/cpu.h"
#include "ops/blas/weights/packed_weights.h"
#include "workers/parallel.h"

namespace softnpu {
namespace {

// With fewer rows packing uncached panels takes as long as the product; with more rows oneDNN's own packing is
// negligible. With a smaller sum or fewer columns there is little to gain. Without oneDNN the other choice is the
// reference.
constexpr int64_t kMinRows = SOFTNPU_HAS_ONEDNN ? 64 : 1;
constexpr int64_t kMaxRows = SOFTNPU_HAS_ONEDNN ? 1024 : std::numeric_limits<int64_t>::max();
constexpr int64_t kMinDepth = 16;
constexpr int64_t kMinColumns = 16;
// A panel's part of this depth and that many rows fit the second-level cache. Measured: parts of 256 to 512 and 64 to
// 128 rows take the same time, smaller ones take longer.
constexpr int64_t kMaxDepth = 512;
constexpr int64_t kBlockRows = 128;
// Pieces per thread: so many that a descheduled thread does not delay the others.
constexpr int64_t kPartsPerThread = 8;

// The layout of the second factor, as the key of its packed copies.
struct UserLayout {
  int64_t columns_of_panel;
  int64_t rows, depth, row_stride, k_stride;
};

class PanelMatmul final : public FusionRoot {
 public:
  explicit PanelMatmul(const MatmulProblem& problem)
      : p_(problem),
        kernels_(panel_kernels()),
        width_(static_cast<int64_t>(kernels_.columns)),
        panels_((p_.b.rows + width_ - 1) / width_),
        threads_(p_.flops() < kSmallWork ? 1 : most_threads()) {}

  std::string describe() const { return softnpu::describe(p_); }
  Checked workspace_bytes() const { return checked(panels_) * p_.b.k * width_ * sizeof(float); }

  bool is_fusible() const { return p_.c.row_stride == p_.c.k; }
  MemoryAccess output() const override { return output_access(p_); }
  void add_accesses(const void* workspace, std::vector<MemoryAccess>* to) const override {
    softnpu::add_accesses(p_, workspace, workspace_bytes().bytes(), to);
  }
  void compute(void* workspace, char* to, const OnReady& on_ready) const override {
    run(workspace, to);
    on_ready(0, p_.c.rows * p_.c.k);
  }

  void run(void* workspace) const { run(workspace, p_.c.data); }

 private:
  // Panels are [panels, k, width].
  PackedLayout layout() const { return {workspace_bytes().bytes(), std::array<int64_t, 3>{panels_, p_.b.k, width_}}; }

  void run(void* workspace, char* to) const {
    const std::shared_ptr<void> cached = cached_panels();
    if (cached == nullptr) pack(static_cast<float*>(workspace));
    const auto* panels = static_cast<const float*>(cached != nullptr ? cached.get() : workspace);
    auto* c = reinterpret_cast<float*>(to);
    const int64_t blocks = (p_.a.rows + kBlockRows - 1) / kBlockRows;
    const int64_t group_panels = std::clamp<int64_t>(panels_ * blocks / (threads_ * kPartsPerThread), 1, panels_);
    const int64_t groups = (panels_ + group_panels - 1) / group_panels;
    parallel_for(blocks * groups, 1, threads_, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) {
        const int64_t panel = i % groups * group_panels;
        multiply(i / groups * kBlockRows, panel, std::min(panels_, panel + group_panels), panels, c);
      }
    });
  }

  // Multiplies kBlockRows rows from `row` on by the panels [first, last).
  void multiply(int64_t row, int64_t first, int64_t last, const float* panels, float* c) const {
    const int64_t depth = p_.a.k;
    const int64_t parts = (depth + kMaxDepth - 1) / kMaxDepth;
    const int64_t part = (depth + parts - 1) / parts;
    const auto* a = reinterpret_cast<const float*>(p_.a.data) + row * p_.a.row_stride;
    const auto* bias = p_.adds ? reinterpret_cast<const float*>(p_.addend.data) : nullptr;
    const auto rows = static_cast<size_t>(std::min(kBlockRows, p_.a.rows - row));
    for (int64_t k = 0; k < depth; k += part) {
      const bool is_last = k + part >= depth;
      for (int64_t panel = first; panel < last; ++panel) {
        const int64_t column = panel * width_;
        kernels_.multiply({a + k, p_.a.row_stride, rows, panels + (panel * depth + k) * width_,
                           static_cast<size_t>(std::min(part, depth - k)),
                           static_cast<size_t>(std::min(width_, p_.b.rows - column)),
                           c + row * p_.c.row_stride + column, p_.c.row_stride, k > 0,
                           is_last && bias != nullptr ? bias + column : nullptr});
      }
    }
  }

  void pack(float* to) const {
    parallel_for(panels_, 1, threads_, [&](int64_t first, int64_t last) {
      for (int64_t panel = first; panel < last; ++panel) pack_panel(panel * width_, to + panel * p_.b.k * width_);
    });
  }

  void pack_panel(int64_t column, float* to) const {
    const int64_t columns = std::min(width_, p_.b.rows - column);
    const int64_t depth = p_.b.k;
    const auto* from = reinterpret_cast<const float*>(p_.b.data) + column * p_.b.row_stride;
    if (columns < width_) {
      for (int64_t k = 0; k < depth; ++k) std::fill(to + k * width_ + columns, to + (k + 1) * width_, 0.0F);
    }
    if (p_.b.row_stride == 1) {
      for (int64_t k = 0; k < depth; ++k) {
        std::memcpy(to + k * width_, from + k * p_.b.k_stride, static_cast<size_t>(columns) * sizeof(float));
      }
      return;
    }
    if (p_.b.k_stride == 1) {
      return kernels_.transpose_tile(from, p_.b.row_stride, static_cast<size_t>(columns), static_cast<size_t>(depth),
                                     to);
    }
    for (int64_t k = 0; k < depth; ++k) {
      for (int64_t j = 0; j < columns; ++j) to[k * width_ + j] = from[j * p_.b.row_stride + k * p_.b.k_stride];
    }
  }

  // Caching panels costs no more than packing them for one product: they are cached from their second use on.
  std::shared_ptr<void> cached_panels() const {
    const UserLayout user{width_, p_.b.rows, p_.b.k, p_.b.row_stride, p_.b.k_stride};
    const std::string_view bytes(reinterpret_cast<const char*>(&user), sizeof user);
    return PackedWeights::get().find(
        {p_.b_source.address, p_.b_source.bytes, bytes}, [&] { return layout(); },
        [&](void* to) { pack(static_cast<float*>(to)); });
  }

  const MatmulProblem p_;
  const PanelKernels kernels_;
  const int64_t width_;   // columns per panel
  const int64_t panels_;  // of the second factor
  const int threads_;
};

// Why panels do not serve a product; null if they do.
const char* refused_by_panels(const MatmulProblem& p) {
  const auto is_float = [](const GemmOperand& m) { return m.dtype == ACL_FLOAT && !m.is_tiled(); };
  if (onednn_packs_weights()) return "oneDNN packs weights on this CPU";
  if (p.splits) return "the product is split";
  if (p.dtype != ACL_FLOAT || !is_float(p.a) || !is_float(p.b) || !is_float(p.c)) return "a data type is not float32";
  if (!p.batch.empty()) return "there is a batch";
  if (p.adds && !(is_float(p.addend) && is_bias_row(p.addend) && p.beta.as_double() == 1)) {
    return "the addend is no row";
  }
  if (p.alpha.as_double() != 1) return "the product is multiplied by a number";
  if (p.a.k_stride != 1 || p.c.k_stride != 1) return "rows are not contiguous";
  const bool fits = p.a.rows >= kMinRows && p.a.rows <= kMaxRows && p.a.k >= kMinDepth && p.b.rows >= kMinColumns;
  return fits ? nullptr : "there are few or many rows, or the second factor is small";
}

}  // namespace

Attempt<Plan> plan_panel_matmul(const MatmulProblem& problem) {
  if (const char* why = refused_by_panels(problem)) return Refusal{why};
  return plan_product<PanelMatmul>(problem);
}

}  // namespace softnpu
