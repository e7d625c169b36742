#include "ops/nn/conv/algorithms.h"

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "base/threads.h"
#include "ops/blas/matmul/split.h"
#include "ops/blas/onednn/cpu.h"
#include "ops/core/dtype.h"
#include "ops/core/tuning/choose.h"

namespace softnpu {
namespace {

Attempt<Implementation> implementation_of(Attempt<Step> step) {
  if (!step) return Refusal{step.why()};
  return Implementation{step->workspace_bytes, step->packed_bytes, std::move(step->run), std::move(step->fusible)};
}

// Whether all sizes, and the steps along images, fit oneDNN's integers.
bool has_small_sizes(const ConvProblem& p) {
  bool fits = onednn_counts(
      {p.batch, p.groups, p.in.channels, p.out.channels, p.filter.taps(), p.in.spatial_size(), p.out.spatial_size()});
  for (size_t i = 0; fits && i < 3; ++i) {
    const int64_t padded = p.in.sizes[i] + 2 * p.padding[i];
    fits = onednn_counts({padded}) && p.stride[i] <= padded && p.dilation[i] <= padded;
  }
  return fits;
}

// Why only the reference can serve the problem; null if others may.
const char* needs_reference(const ConvProblem& p) {
  const bool sums = p.batch != 0 && p.out.channels != 0 && p.out.spatial_size() != 0 && p.in.channels != 0 &&
                    p.in.spatial_size() != 0;
  if (!sums) return "its sums have no terms";
  if (p.dtype != ACL_FLOAT && !is_half(p.dtype)) return "it is for float32, float16 and bfloat16";
  return has_small_sizes(p) ? nullptr : "a size does not fit into 32 bits";
}

void add(const Image& image, TuningKey* key) {
  key->add(image.dtype, image.channels, image.batch_stride, image.channel_stride, image.is_blocked);
  for (size_t i = 0; i < 3; ++i) key->add(image.sizes[i], image.strides[i]);
}

TuningKey key_of(const ConvProblem& p, bool is_repeatable) {
  TuningKey key("convolution");
  key.add(p.kind, p.dtype, p.dims, p.batch, p.groups, p.allows_less, is_repeatable);
  add(p.in, &key);
  add(p.out, &key);
  key.add(p.filter.dtype, p.filter.out_stride, p.filter.in_stride, p.bias != nullptr, p.bias_dtype);
  for (size_t i = 0; i < 3; ++i) {
    key.add(p.filter.sizes[i], p.filter.strides[i], p.stride[i], p.padding[i], p.dilation[i]);
  }
  return key;
}

std::string work_of(const ConvProblem& p) {
  const char* kind = "convolution ";
  if (p.kind == ConvKind::kInputGradient) kind = "transposed convolution, or gradient of the image, ";
  if (p.kind == ConvKind::kFilterGradient) kind = "gradient of the filter ";
  const bool channels_last = p.in.channels > 1 && p.in.channel_stride == 1 && !p.in.is_blocked;
  const char* layout = p.in.is_blocked ? ", NC1HWC0" : channels_last ? ", channels last" : "";
  return text(kind, describe(p), layout, p.allows_less ? ", HF32 allowed" : "", ", threads ", most_threads());
}

bool is_repeatable(const ConvProblem& p) {
  const MemoryAccess in = memory_of(extents_of(p.in, p.batch), p.in.data, aclDataTypeSize(p.in.dtype));
  const MemoryAccess out = memory_of(extents_of(p.out, p.batch), p.out.data, aclDataTypeSize(p.out.dtype));
  const MemoryAccess filter = memory_of(extents_of(p.filter, p.out_channels() * p.groups, p.in_channels()),
                                        p.filter.data, aclDataTypeSize(p.filter.dtype));
  const MemoryAccess bias = p.bias != nullptr ? bias_access(p) : MemoryAccess{};
  switch (p.kind) {
    case ConvKind::kForward: return is_separate(out, std::array{in, filter, bias});
    case ConvKind::kInputGradient: return is_separate(in, std::array{out, filter, bias});
    case ConvKind::kFilterGradient: break;
  }
  return is_separate(filter, std::array{in, out});
}

}  // namespace

#if SOFTNPU_HAS_ONEDNN
Attempt<Step> winograd(const ConvProblem& p) {
  return p.kind == ConvKind::kFilterGradient ? winograd_gradient(p) : winograd_convolution(p);
}

Attempt<Step> split_convolution(const ConvProblem& p) {
  if (split_mode() != Split::kTuned) return Refusal{"this CPU does not multiply matrices of bfloat16"};
  ConvProblem in_parts = p;
  in_parts.splits = true;
  if (!is_split(in_parts)) return Refusal{"HF32 is not allowed, or there are groups or few channels"};
  return onednn_convolution(in_parts);
}
#endif

Attempt<Step> choose_convolution(const ConvProblem& problem) {
  const auto describe = [&] { return work_of(problem); };
  if (const char* why = needs_reference(problem)) return serve_by_reference(kConvAlgorithms, problem, why, describe);
  ConvProblem p = problem;
  p.splits = p.allows_less && split_mode() == Split::kAlways;
  const auto by_rule = [&] { return first_of(kConvAlgorithms, p, describe); };
  if (p.splits || p.dtype != ACL_FLOAT || !Tuner::is_on(p.flops())) return by_rule();
  const std::vector<Offer> offers = offers_of(kConvAlgorithms, p, &implementation_of);
  const bool repeats = is_repeatable(p);
  const TunedWork work{repeats, key_of(p, repeats), describe};
  std::optional<Implementation> output = choose_implementation(work, offers);
  if (!output) return by_rule();
  return Step{output->workspace_bytes, p.flops(), std::move(output->run), std::move(output->fusible),
              output->packed_bytes};
}

}  // namespace softnpu
