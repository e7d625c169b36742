#pragma once
// What the ways to compute Winograd's convolution share: the problem cut into tiles, and its fusion with later stages.

#include <functional>
#include <vector>

#include "fusion/fusion_root.h"
#include "ops/core/workspace.h"
#include "ops/nn/conv/problem.h"
#include "ops/nn/conv/winograd_kernels.h"
#include "ops/nn/conv/winograd_rows.h"

namespace softnpu {

class WinogradRoot : public FusionRoot {
 public:
  Checked workspace_bytes() const { return space_.bytes(); }
  // Whether the result is contiguous, image by image, as compute() announces it.
  bool is_fusible() const;
  MemoryAccess output() const override;
  void add_accesses(const void* workspace, std::vector<MemoryAccess>* to) const override;
  void compute(void* workspace, char* to, const OnReady& on_ready) const override;
  void run(char* space) const {
    run(space, output_image().data, [](int64_t, int64_t) {});
  }

 protected:
  // Images [first, last) are computed.
  using OnImages = std::function<void(int64_t first, int64_t last)>;

  explicit WinogradRoot(const ConvProblem& problem);

  virtual void run(char* space, char* to, const OnImages& output_images) const = 0;

  const Image& read() const { return p_.kind == ConvKind::kForward ? p_.in : p_.out; }
  const Image& output_image() const { return p_.output(); }
  int64_t tiles_per_image() const { return tiles_down_ * tiles_across_; }
  // The bias as float32, or zeros.
  void read_offsets(float* to) const;
  // Transforms all channels of row `row` of tiles, numbered through all images, to `tile` and the tiles after it.
  void read_row(int64_t row, const WinogradPlanes& planes, float* tile, float* buffer) const;
  // Writes channels [first, last) of that row from planes that begin with channel `first`.
  void write_row(int64_t row, int64_t first, int64_t last, const WinogradPlanes& planes, const float* tile,
                 const float* offsets, float* to, float* buffer) const;

  const ConvProblem p_;
  const WinogradTile tile_;
  const int64_t tiles_down_, tiles_across_;  // per image
  const int threads_;
  Workspace space_;

 private:
  // Zeros before the input, above and to the left.
  int64_t before(size_t dim) const {
    return p_.kind == ConvKind::kForward ? p_.padding[dim] : p_.filter.sizes[dim] - 1 - p_.padding[dim];
  }
};

}  // namespace softnpu
