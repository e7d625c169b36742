#include "ops/nn/conv/winograd_root.h"

#include <algorithm>

#include "ops/blas/onednn/engine.h"
#include "ops/nn/conv/winograd_tiles.h"

namespace softnpu {

WinogradRoot::WinogradRoot(const ConvProblem& problem)
    : p_(problem),
      tile_(tile_of(problem, problem.output())),
      tiles_down_(tiles_along(output_image().sizes[1], tile_)),
      tiles_across_(tiles_along(output_image().sizes[2], tile_)),
      threads_(onednn_threads(problem.flops())) {}

bool WinogradRoot::is_fusible() const {
  const bool in_order =
      p_.batch == 1 || output_image().batch_stride == output_image().channels * output_image().spatial_size();
  return !output_image().is_blocked && in_order && is_dense(extents_of(output_image(), p_.batch));
}

MemoryAccess WinogradRoot::output() const {
  MemoryAccess memory = memory_of(extents_of(output_image(), p_.batch), output_image().data, sizeof(float));
  memory.element_bytes = sizeof(float);
  memory.is_written = true;
  return memory;
}

void WinogradRoot::add_accesses(const void* workspace, std::vector<MemoryAccess>* to) const {
  to->push_back(memory_of(extents_of(read(), p_.batch), read().data, sizeof(float)));
  to->push_back(memory_of(extents_of(p_.filter, p_.out.channels, p_.in.channels), p_.filter.data, sizeof(float)));
  if (p_.bias != nullptr) to->push_back(bias_access(p_));
  const auto* space = static_cast<const char*>(workspace);
  to->push_back({space, space + space_.bytes().bytes(), 0, true});
}

void WinogradRoot::compute(void* workspace, char* to, const OnReady& on_ready) const {
  const int64_t image = output_image().channels * output_image().spatial_size();
  run(static_cast<char*>(workspace), to, [&](int64_t first, int64_t last) { on_ready(first * image, last * image); });
}

void WinogradRoot::read_offsets(float* to) const {
  if (p_.bias != nullptr) return read_bias(p_, to);
  std::fill_n(to, output_image().channels, 0.0F);
}

void WinogradRoot::read_row(int64_t row, const WinogradPlanes& planes, float* tile, float* buffer) const {
  const WinogradRows from(read(), tile_);
  const float* image = reinterpret_cast<const float*>(read().data) + row / tiles_down_ * from.image_stride();
  const int64_t y = row % tiles_down_ * tile_.output - before(1);
  for (int64_t c = 0; c < read().channels; c += kWinogradChannels) {
    from.read(image, {c, y, -before(2), tiles_across_}, tile_.read(), winograd_image, planes, tile + c, buffer);
  }
}

void WinogradRoot::write_row(int64_t row, int64_t first, int64_t last, const WinogradPlanes& planes, const float* tile,
                             const float* offsets, float* to, float* buffer) const {
  const WinogradRows back(output_image(), tile_);
  float* image = to + row / tiles_down_ * back.image_stride();
  for (int64_t c = first; c < last; c += kWinogradChannels) {
    back.write(tile + c - first, planes, offsets + c, {c, row % tiles_down_ * tile_.output, 0, tiles_across_}, image,
               buffer);
  }
}

}  // namespace softnpu
