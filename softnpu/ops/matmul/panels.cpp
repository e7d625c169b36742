#include "ops/matmul/panels.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

#include "ops/matmul/panel_kernels.h"
#include "ops/matmul/product.h"
#include "ops/onednn/engine.h"
#include "ops/onednn/packed_weights.h"
#include "ops/onednn/types.h"
#include "workers/parallel.h"

namespace softnpu {
namespace {

// A product of fewer lines takes no longer than the panels where nobody keeps them; with more lines oneDNN's packing of
// its own counts for nothing. With a smaller sum or fewer columns there is little to add up.
constexpr int64_t kLeastLines = 64;
constexpr int64_t kMostLines = 1024;
constexpr int64_t kLeastDepth = 16;
constexpr int64_t kLeastColumns = 16;
// A panel's part of this depth and so many lines of it stay in the second level of a cache. Measured: parts of 256 to
// 512 and 64 to 128 lines take the same time, less of either takes more.
constexpr int64_t kMostDepth = 512;
constexpr int64_t kLinesTogether = 128;
// Pieces for each thread: so many that a thread which lost its core does not hold up the others.
constexpr int64_t kPieces = 8;

// How the second factor lies, for its copies.
struct Given {
  int64_t columns_of_panel;
  int64_t lines, depth, line_stride, depth_stride;
};

class PanelMatmul final : public FusionRoot {
 public:
  explicit PanelMatmul(const MatmulProblem& problem)
      : p_(problem),
        kernels_(panel_kernels()),
        width_(static_cast<int64_t>(kernels_.columns)),
        panels_((p_.b.lines + width_ - 1) / width_),
        threads_(onednn_threads(p_.flops())) {}

  std::string describe() const { return softnpu::describe(p_); }
  Checked workspace_bytes() const { return checked(panels_) * p_.b.depth * width_ * sizeof(float); }

  bool is_fusible() const { return p_.c.line_stride == p_.c.depth; }
  MemoryAccess output() const override { return output_access(p_); }
  void add_accesses(const void* workspace, std::vector<MemoryAccess>* to) const override {
    softnpu::add_accesses(p_, workspace, workspace_bytes().bytes(), to);
  }
  void compute(void* workspace, char* to, const OnReady& on_ready) const override {
    run(workspace, to);
    on_ready(0, p_.c.lines * p_.c.depth);
  }

  void run(void* workspace) const { run(workspace, p_.c.data); }

 private:
  dnnl::memory::desc layout() const {
    return {{panels_, p_.b.depth, width_}, dnnl::memory::data_type::f32, dnnl::memory::format_tag::abc};
  }

  void run(void* workspace, char* to) const {
    const ThreadScope scope(threads_);
    const std::shared_ptr<void> kept = kept_panels();
    if (kept == nullptr) pack(static_cast<float*>(workspace));
    const auto* panels = static_cast<const float*>(kept != nullptr ? kept.get() : workspace);
    auto* c = reinterpret_cast<float*>(to);
    const int64_t blocks = (p_.a.lines + kLinesTogether - 1) / kLinesTogether;
    const int64_t together = std::clamp<int64_t>(panels_ * blocks / (threads_ * kPieces), 1, panels_);
    const int64_t groups = (panels_ + together - 1) / together;
    parallel_for(blocks * groups, 1, threads_, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) {
        const int64_t panel = i % groups * together;
        multiply(i / groups * kLinesTogether, panel, std::min(panels_, panel + together), panels, c);
      }
    });
  }

  // kLinesTogether lines from `line` on with panels [first, last).
  void multiply(int64_t line, int64_t first, int64_t last, const float* panels, float* c) const {
    const int64_t depth = p_.a.depth;
    const int64_t parts = (depth + kMostDepth - 1) / kMostDepth;
    const int64_t part = (depth + parts - 1) / parts;
    const auto* a = reinterpret_cast<const float*>(p_.a.data) + line * p_.a.line_stride;
    const auto* row = p_.adds ? reinterpret_cast<const float*>(p_.addend.data) : nullptr;
    const auto lines = static_cast<size_t>(std::min(kLinesTogether, p_.a.lines - line));
    for (int64_t k = 0; k < depth; k += part) {
      const bool is_last = k + part >= depth;
      for (int64_t panel = first; panel < last; ++panel) {
        const int64_t column = panel * width_;
        kernels_.multiply({a + k, p_.a.line_stride, lines, panels + (panel * depth + k) * width_,
                           static_cast<size_t>(std::min(part, depth - k)),
                           static_cast<size_t>(std::min(width_, p_.b.lines - column)),
                           c + line * p_.c.line_stride + column, p_.c.line_stride, k > 0,
                           is_last && row != nullptr ? row + column : nullptr});
      }
    }
  }

  void pack(float* to) const {
    parallel_for(panels_, 1, threads_, [&](int64_t first, int64_t last) {
      for (int64_t panel = first; panel < last; ++panel) pack_panel(panel * width_, to + panel * p_.b.depth * width_);
    });
  }

  void pack_panel(int64_t column, float* to) const {
    const int64_t columns = std::min(width_, p_.b.lines - column);
    const int64_t depth = p_.b.depth;
    const auto* from = reinterpret_cast<const float*>(p_.b.data) + column * p_.b.line_stride;
    if (columns < width_) {
      for (int64_t k = 0; k < depth; ++k) std::fill(to + k * width_ + columns, to + (k + 1) * width_, 0.0F);
    }
    if (p_.b.line_stride == 1) {
      for (int64_t k = 0; k < depth; ++k) {
        std::memcpy(to + k * width_, from + k * p_.b.depth_stride, static_cast<size_t>(columns) * sizeof(float));
      }
      return;
    }
    if (p_.b.depth_stride == 1) {
      return kernels_.turn(from, p_.b.line_stride, static_cast<size_t>(columns), static_cast<size_t>(depth), to);
    }
    for (int64_t k = 0; k < depth; ++k) {
      for (int64_t j = 0; j < columns; ++j) to[k * width_ + j] = from[j * p_.b.line_stride + k * p_.b.depth_stride];
    }
  }

  // To keep panels takes no longer than to make them for one product: they are kept from the second on.
  std::shared_ptr<void> kept_panels() const {
    const Given given{width_, p_.b.lines, p_.b.depth, p_.b.line_stride, p_.b.depth_stride};
    const std::string_view bytes(reinterpret_cast<const char*>(&given), sizeof given);
    return PackedWeights::get().find(
        {p_.b_source.address, p_.b_source.bytes, bytes}, [&] { return layout(); },
        [&](void* to) { pack(static_cast<float*>(to)); });
  }

  const MatmulProblem p_;
  const PanelKernels kernels_;
  const int64_t width_;   // columns of a panel
  const int64_t panels_;  // of the second factor
  const int threads_;
};

bool takes(const MatmulProblem& p) {
  const auto is_float = [](const Matrices& m) { return m.dtype == ACL_FLOAT && !m.in_pieces(); };
  const bool adds_row = !p.adds || (is_float(p.addend) && is_row(p.addend) && p.beta.as_double() == 1);
  return p.dtype == ACL_FLOAT && is_float(p.a) && is_float(p.b) && is_float(p.c) && adds_row &&
         p.alpha.as_double() == 1 && p.batch.empty() && p.a.depth_stride == 1 && p.c.depth_stride == 1 &&
         p.a.lines >= kLeastLines && p.a.lines <= kMostLines && p.a.depth >= kLeastDepth && p.b.lines >= kLeastColumns;
}

}  // namespace

std::optional<Plan> plan_panel_matmul(const MatmulProblem& problem) {
  if (!takes(problem) || onednn_packs_weights()) return std::nullopt;
  return plan_product<PanelMatmul>(problem);
}

}  // namespace softnpu
