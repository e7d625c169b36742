// Rules for operators on matrices and rows: products, norms, losses, int8 values, random masks, lists.

#include "fuzz/operators/family_rules.h"

namespace fuzz {
namespace {

void size(Draft* d, std::initializer_list<const char*> roles, const Sizes& sizes) {
  for (const char* role : roles) d->sizes[role] = sizes;
}

void type(Draft* d, std::initializer_list<const char*> roles, aclDataType dtype) {
  for (const char* role : roles) d->dtypes[role] = dtype;
}

Draft product(const Caller& caller, Numbers& n) {
  Draft d;
  const std::string_view name = caller.name;
  const Sizes s = some(n, 4, 1, 5);  // batch, rows, depth, columns
  d.dtype = floating(n);
  d.numbers["cubeMathType"] = {n.below(2)};
  size(&d, {"batch1"}, {s[0], s[1], s[2]});
  size(&d, {"batch2"}, {s[0], s[2], s[3]});
  size(&d, {"vec1"}, {s[1]});
  size(&d, {"vec2"}, {s[3]});
  size(&d, {"self", "selfRef", "out"}, has(name, "Baddbmm") ? Sizes{s[0], s[1], s[3]} : Sizes{s[1], s[3]});
  if (has(name, "Mv") || has(name, "Addmv")) {
    size(&d, {"mat"}, {s[1], s[2]});
    size(&d, {"vec"}, {s[2]});
    size(&d, {"self", "out"}, {s[1]});
    if (has(name, "Mv")) size(&d, {"self"}, {s[1], s[2]});
  }
  return d;
}

Draft norm_gradient(const Caller& caller, Numbers& n) {
  Draft d;
  const std::string_view name = caller.name;
  const Sizes s = some(n, 3, 1, 4);
  const Sizes x = {s[0], 2 * s[1], s[2]};
  const int64_t channels = x[1];
  d.dtype = ACL_FLOAT;
  size(&d, {"gradOut", "input", "gradInput", "gradInputOut"}, x);
  d.numbers["normalizedShape"] = {s[2]};
  d.numbers["N"] = {s[0]};
  d.numbers["C"] = {channels};
  d.numbers["HxW"] = {s[2]};
  d.numbers["group"] = {2};
  size(&d, {"mean", "rstd"}, has(name, "Group") ? Sizes{s[0], 2} : Sizes{s[0], channels, 1});
  size(&d, {"weight", "bias", "gradWeightOut", "gradBiasOut"}, {s[2]});
  size(&d, {"gamma", "gradGammaOut", "gradBetaOut"}, {channels});
  if (has(name, "BatchNorm")) {
    size(&d, {"weight", "runningMean", "runningVar", "saveMean", "saveInvstd", "gradWeight", "gradBias"}, {channels});
  }
  return d;
}

Draft class_loss(const Caller& caller, Numbers& n) {
  Draft d;
  const std::string_view name = caller.name;
  const bool image = has(name, "2d");
  const int64_t rows = 1 + n.below(4);
  const int64_t classes = 3 + n.below(4);
  const int64_t reduction = n.below(3);
  const Sizes tail = image ? some(n, 2, 1, 3) : Sizes{};
  const Sizes x = joined({rows, classes}, tail);
  const Sizes each = joined({rows}, tail);
  const Sizes reduced = reduction == 0 ? each : Sizes{};
  static constexpr const char* kWords[] = {"none", "mean", "sum"};
  d.dtype = ACL_FLOAT;
  d.words["reduction"] = kWords[reduction];
  d.numbers["reduction"] = {reduction};
  d.numbers["ignoreIndex"] = {-100};
  d.numbers["returnZloss"] = {0};
  d.reals["labelSmoothing"] = n.once_in(2) ? 0 : 0.1;
  d.reals["lseSquareScaleForZloss"] = 0;
  size(&d, {"self", "input", "logProb", "logProbOut"}, x);
  size(&d, {"target"}, each);
  size(&d, {"weight"}, {classes});
  size(&d, {"gradOutput", "gradLoss", "lossOut"}, reduced);
  size(&d, {"out"}, has(name, "Backward") || has(name, "Grad") ? x : reduced);
  size(&d, {"totalWeight", "totalWeightOut"}, {1});
  type(&d, {"target"}, ACL_INT64);
  for (const char* role : {"zlossOut", "lseForZlossOut", "gradZloss", "lseForZloss"}) d.absent.insert(role);
  return d;
}

Draft quantization(const Caller& caller, Numbers& n) {
  Draft d;
  const std::string_view name = caller.name;
  const Sizes s = some(n, 2, 1, 5);
  const bool back = has(name, "AntiQuant");
  d.dtype = has(name, "Dynamic") || back ? ACL_FLOAT16 : ACL_FLOAT;
  size(&d, {"x", "y", "yOut"}, s);
  size(&d, {"scaleOut", "offsetOut"}, {s[0]});
  size(&d, {"scale", "offset", "smoothScalesOptional"}, {s[1]});
  type(&d, {"scaleOut", "offsetOut"}, ACL_FLOAT);
  type(&d, {"y", "yOut", "dstType"}, back ? ACL_FLOAT16 : ACL_INT8);
  if (back) type(&d, {"x"}, ACL_INT8);
  d.words["roundMode"] = n.one_of<const char*>({"round", "floor", "ceil", "trunc"});
  d.numbers["axis"] = {-1};
  for (const char* role : {"groupIndexOptional", "offsetOut"}) d.absent.insert(role);
  if (has(name, "DynamicQuantV2") && n.once_in(2)) d.absent.erase("offsetOut");
  return d;
}

Draft quantized_norm(const Caller& /*caller*/, Numbers& n) {
  Draft d;
  const Sizes s = some(n, 2, 1, 5);
  d.dtype = ACL_FLOAT16;
  size(&d, {"x", "x1", "x2", "y", "y1", "y2", "rmsNorm"}, s);
  size(&d, {"gamma", "beta", "scale", "offset", "scales1", "scales2", "zeroPoints1", "zeroPoints2"}, {s[1]});
  size(&d, {"smoothScale1", "smoothScale2"}, {s[1]});
  size(&d, {"scale1", "scale2"}, {s[0]});
  type(&d, {"scale1", "scale2"}, ACL_FLOAT);
  type(&d, {"y", "y1", "y2"}, ACL_INT8);
  d.numbers["axis"] = {-1};
  d.absent.insert("outputMask");
  return d;
}

Draft quantized_product(const Caller& /*caller*/, Numbers& n) {
  Draft d;
  const Sizes s = some(n, 3, 1, 5);  // rows, depth, columns
  d.dtype = ACL_FLOAT16;
  size(&d, {"x1", "x"}, {s[0], s[1]});
  size(&d, {"x2", "weight"}, {s[1], s[2]});
  size(&d, {"out", "y"}, {s[0], s[2]});
  size(&d, {"x1Scale"}, {s[0]});
  size(&d, {"x2Scale", "antiquantScale", "antiquantOffset", "bias"}, {s[2]});
  type(&d, {"x1", "x2", "weight"}, ACL_INT8);
  type(&d, {"x1Scale", "x2Scale"}, ACL_FLOAT);
  for (const char* role : {"yScale", "x1Offset", "x2Offset", "yOffset", "quantScale", "quantOffset", "bias"}) {
    d.absent.insert(role);
  }
  for (const char* role : {"transposeX1", "transposeX2", "groupSize", "antiquantGroupSize"}) d.numbers[role] = {0};
  return d;
}

Draft multinomial(const Caller& /*caller*/, Numbers& n) {
  Draft d;
  const Sizes s = some(n, 2, 1, 5);
  const int64_t samples = 1 + n.below(4);
  size(&d, {"self"}, s);
  size(&d, {"out"}, {s[0], samples});
  size(&d, {"seed", "offset"}, {1});
  type(&d, {"out", "seed", "offset"}, ACL_INT64);
  d.numbers["numSamples"] = {samples};
  d.numbers["replacement"] = {1};
  return d;
}

Draft dropout(const Caller& /*caller*/, Numbers& n) {
  Draft d;
  const Sizes s = some(n, 2, 1, 6);
  d.dtype = floating(n);
  size(&d, {"self", "input", "out"}, s);
  size(&d, {"mask"}, {(s[0] * s[1] + 127) / 128 * 16});
  size(&d, {"seed", "offset"}, {1});
  type(&d, {"mask"}, ACL_UINT8);
  type(&d, {"seed", "offset"}, ACL_INT64);
  type(&d, {"probDataType"}, ACL_FLOAT);
  d.numbers["shape"] = s;
  d.reals["prob"] = 0.25;
  d.absent.insert("noiseShape");
  return d;
}

Draft lists(const Caller& caller, Numbers& n) {
  Draft d;
  const std::string_view name = caller.name;
  const Sizes s = some(n, 2, 1, 4);
  d.dtype = floating(n);
  if (has(name, "Foreach")) {
    size(&d, {"x1", "x2", "x3", "out"}, s);
    size(&d, {"scalars"}, {1});
    return d;
  }
  size(&d, {"tensors", "self"}, s);
  size(&d, {"out"}, has(name, "Stack") ? Sizes{1, s[0], s[1]} : s);
  d.numbers["dim"] = {0};
  d.numbers["splitSize"] = {s[0]};
  return d;
}

Draft one_hot(const Caller& /*caller*/, Numbers& n) {
  Draft d;
  const int64_t rows = 1 + n.below(4);
  const int64_t classes = 1 + n.below(4);
  d.dtype = ACL_INT64;
  size(&d, {"self"}, {rows});
  size(&d, {"out"}, {rows, classes});
  size(&d, {"onValue", "offValue"}, {1});
  d.numbers["numClasses"] = {classes};
  d.numbers["axis"] = {-1};
  return d;
}

Draft loss_scale(const Caller& /*caller*/, Numbers& /*n*/) {
  Draft d;
  size(&d, {"currentScale", "growthTracker", "foundInf", "updatedScale", "updatedGrowthTracker"}, {1});
  type(&d, {"growthTracker", "updatedGrowthTracker"}, ACL_INT32);
  d.reals["growthFactor"] = 2;
  d.reals["backoffFactor"] = 0.5;
  d.numbers["growthInterval"] = {2};
  return d;
}

// The last size is the number of elements, which the run determines.
Draft places(const Caller& /*caller*/, Numbers& n) {
  Draft d;
  const Sizes s = some(n, 2, 1, 4);
  d.dtype = floating(n);
  size(&d, {"self"}, s);
  size(&d, {"out"}, {2, s[0] * s[1]});
  type(&d, {"out"}, ACL_INT64);
  return d;
}

Draft rotation(const Caller& /*caller*/, Numbers& n) {
  Draft d;
  const Sizes s = some(n, 3, 1, 3);
  d.dtype = floating(n);
  size(&d, {"query", "key"}, {s[0], s[1], s[2], 8});
  size(&d, {"cos", "sin"}, {s[0], s[1], 1, 8});
  d.numbers["layout"] = {1};
  d.words["rotaryMode"] = n.once_in(2) ? "half" : "interleave";
  return d;
}

Draft latent_cache(const Caller& caller, Numbers& n) {
  Draft d;
  const Sizes s = some(n, 2, 1, 3);  // batch, tokens
  const bool has_v = has(caller.name, "V2") && n.once_in(2);
  const bool is_paged = n.once_in(2);
  d.dtype = n.once_in(2) ? ACL_FLOAT16 : ACL_FLOAT;
  size(&d, {"kv"}, {s[0], 1, s[1], has_v ? 16 : 24});
  size(&d, {"gamma"}, {16});
  size(&d, {"cos", "sin"}, {s[0], 1, s[1], 8});
  size(&d, {"index"}, is_paged ? Sizes{s[0] * s[1]} : s);
  type(&d, {"index"}, ACL_INT64);
  const Sizes keys = {s[0], is_paged ? 4 : 1, is_paged ? 1 : 4, has_v ? 16 : 8};
  size(&d, {"kCache"}, keys);
  size(&d, {"ckvCache"}, {keys[0], keys[1], keys[2], 16});
  size(&d, {"kRope"}, {s[0], 1, s[1], keys[3]});
  size(&d, {"cKv", "v"}, {s[0], 1, s[1], 16});
  for (const char* role : {"kRopeScale", "cKvScale", "kRopeOffset", "cKvOffset"}) d.absent.insert(role);
  if (!has_v) d.absent.insert("v");
  d.words["cacheMode"] = is_paged ? "PA" : "Norm";
  return d;
}

Draft likely(const Caller& /*caller*/, Numbers& n) {
  Draft d;
  const Sizes s = some(n, 2, 1, 9);
  d.dtype = n.once_in(2) ? ACL_FLOAT16 : ACL_FLOAT;
  size(&d, {"logits", "out"}, s);
  size(&d, {"p", "k"}, {s[0]});
  type(&d, {"k"}, ACL_INT32);
  return d;
}

Draft position_rotation(const Caller& /*caller*/, Numbers& n) {
  Draft d;
  const Sizes s = some(n, 2, 1, 4);  // tokens, heads
  d.dtype = n.once_in(2) ? ACL_FLOAT16 : ACL_FLOAT;
  size(&d, {"positions"}, {s[0]});
  type(&d, {"positions"}, ACL_INT64);
  size(&d, {"query", "queryOut"}, {s[0], 8 * s[1]});
  size(&d, {"key", "keyOut"}, {s[0], 8});
  size(&d, {"cosSinCache"}, {5, n.once_in(2) ? 8 : 6});
  d.numbers["headSize"] = {8};
  d.absent.insert("mropeSection");
  return d;
}

// The first matching part of the name decides.
constexpr std::pair<std::string_view, Rule> kRules[] = {
    {"aclnnBaddbmm", &product},
    {"aclnnAddbmm", &product},
    {"aclnnMv", &product},
    {"aclnnAddmv", &product},
    {"aclnnAddr", &product},
    {"aclnnInplaceAddr", &product},
    {"LayerNormBackward", &norm_gradient},
    {"GroupNormBackward", &norm_gradient},
    {"aclnnBatchNormBackward", &norm_gradient},
    {"NLLLoss", &class_loss},
    {"CrossEntropyLoss", &class_loss},
    {"QuantMatmul", &quantized_product},
    {"WeightQuantBatchMatmul", &quantized_product},
    {"RmsNormQuant", &quantized_norm},
    {"RmsNormDynamicQuant", &quantized_norm},
    {"DynamicQuant", &quantization},
    {"AscendQuant", &quantization},
    {"AscendAntiQuant", &quantization},
    {"Multinomial", &multinomial},
    {"Dropout", &dropout},
    {"AddcmulScalarList", &lists},
    {"AddcdivScalarList", &lists},
    {"aclnnStack", &lists},
    {"aclnnSplitWithSize", &lists},
    {"aclnnOneHot", &one_hot},
    {"AmpUpdateScale", &loss_scale},
    {"NonzeroV2", &places},
    {"ApplyRotaryPosEmbV2", &rotation},
    {"ApplyTopKTopP", &likely},
    {"KvRmsNormRopeCache", &latent_cache},
    {"RopeWithSinCosCache", &position_rotation},
};

}  // namespace

Rule rule_of_rows(std::string_view name) {
  for (const auto& [part, rule] : kRules) {
    if (has(name, part)) return rule;
  }
  return nullptr;
}

}  // namespace fuzz
