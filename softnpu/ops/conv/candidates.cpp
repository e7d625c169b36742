#include "ops/conv/candidates.h"

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "base/threads.h"
#include "ops/matmul/split.h"
#include "ops/tuning/choose.h"

namespace softnpu {
namespace {

std::optional<Implementation> implementation_of(std::optional<Step> step) {
  if (!step) return std::nullopt;
  return Implementation{step->workspace_bytes, step->packed_bytes, std::move(step->run), std::move(step->fusible)};
}

bool is_blocked(const ConvProblem& p) { return p.in.is_blocked || p.out.is_blocked; }

std::optional<Step> winograd(const ConvProblem& p) {
  return p.kind == ConvKind::kFilterGradient ? winograd_gradient(p) : winograd_convolution(p);
}

std::optional<Step> by_rule(const ConvProblem& p) {
  std::optional<Step> step;
  if (!is_blocked(p)) step = pointwise_convolution(p);
  if (!step) step = plane_convolution(p);
  if (!step) step = winograd(p);
  if (!step) step = onednn_convolution(p);
  return step;
}

using MakeStep = std::optional<Step> (*)(const ConvProblem&);

// `p` outlives the offer.
Offer offer(const char* name, const ConvProblem& p, MakeStep make, bool may_lose = false) {
  return {name, [&p, make] { return implementation_of(make(p)); }, may_lose};
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

std::optional<Step> choose_convolution(const ConvProblem& p) {
  const Split split = p.allows_less ? split_mode() : Split::kNever;
  if (split == Split::kAlways) {
    ConvProblem in_parts = p;
    in_parts.splits = true;
    return by_rule(in_parts);
  }
  if (p.dtype != ACL_FLOAT || !Tuner::is_on(p.flops())) return by_rule(p);
  std::vector<Offer> offers;
  if (!is_blocked(p)) offers.push_back(offer("product", p, &pointwise_convolution));
  if (p.groups > 1) offers.push_back(offer("planes", p, &plane_convolution));
  if (p.allows_less) offers.push_back(offer("Winograd", p, &winograd, true));
  offers.push_back(offer("oneDNN", p, &onednn_convolution));
  ConvProblem in_parts = p;
  in_parts.splits = true;
  if (split == Split::kTuned && is_split(in_parts)) {
    offers.push_back(offer("bfloat16 products", in_parts, &onednn_convolution, true));
  }
  const bool repeats = is_repeatable(p);
  const TunedWork work{repeats, key_of(p, repeats), [&] { return work_of(p); }};
  std::optional<Implementation> made = choose_implementation(work, offers);
  if (!made) return std::nullopt;
  return Step{made->workspace_bytes, p.flops(), std::move(made->run), std::move(made->fusible), made->packed_bytes};
}

}  // namespace softnpu
