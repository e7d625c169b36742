#include "fuzz/operators/families.h"

#include <algorithm>
#include <string_view>

#include "fuzz/operators/family_rules.h"

namespace fuzz {
namespace {

// Windows over an image: sizes, and the number of windows.
struct WindowSizes {
  Sizes in, kernel, stride, padding, dilation, out;

  WindowSizes(Numbers& n, size_t dims, bool dilates)
      : in(some(n, dims, 5, 8)),
        kernel(some(n, dims, 1, 3)),
        stride(some(n, dims, 1, 2)),
        padding(dims),
        dilation(dilates ? some(n, dims, 1, 2) : Sizes(dims, 1)),
        out(dims) {
    for (size_t i = 0; i < dims; ++i) {
      padding[i] = n.below(static_cast<uint32_t>(kernel[i] / 2 + 1));
      out[i] = (in[i] + 2 * padding[i] - dilation[i] * (kernel[i] - 1) - 1) / stride[i] + 1;
    }
  }
};

void name_windows(const WindowSizes& w, Draft* d) {
  d->numbers["kernelSize"] = w.kernel;
  d->numbers["stride"] = w.stride;
  d->numbers["padding"] = w.padding;
  d->numbers["dilation"] = w.dilation;
}

Draft pooling(const Caller& caller, Numbers& n) {
  Draft d;
  const std::string_view name = caller.name;
  const size_t dims = dims_of(name);
  WindowSizes w(n, dims, has(name, "MaxPool"));
  if (has(name, "Adaptive")) w.out = some(n, dims, 1, 4);
  const Sizes planes = some(n, 2, 1, 3);
  d.dtype = floating(n);
  name_windows(w, &d);
  for (const char* role : {"self", "gradInput"}) d.sizes[role] = joined(planes, w.in);
  for (const char* role : {"out", "gradOutput", "indices"}) d.sizes[role] = joined(planes, w.out);
  d.numbers["ceilMode"] = {0};
  d.numbers["divisorOverride"] = {n.below(3)};
  d.numbers["cubeMathType"] = {0};
  d.numbers["outputSize"] = w.out;
  d.dtypes["indices"] = n.once_in(2) ? ACL_INT32 : ACL_INT64;
  if (has(name, "WithMask")) {
    const int64_t windows = w.out[0] * w.out[1];
    d.sizes["indices"] = joined(planes, {w.kernel[0] * w.kernel[1], ((windows + 15) / 16 + 1) * 32});
    d.dtypes["indices"] = ACL_INT8;
  }
  return d;
}

Draft unpooling(const Caller& caller, Numbers& n) {
  Draft d;
  const size_t dims = dims_of(caller.name);
  const Sizes planes = some(n, 2, 1, 3);
  const Sizes large = some(n, dims, 4, 6);
  d.dtype = floating(n);
  d.sizes["self"] = d.sizes["indices"] = joined(planes, some(n, dims, 2, 3));
  d.sizes["out"] = joined(planes, large);
  d.dtypes["indices"] = ACL_INT64;
  d.numbers["outputSize"] = large;
  d.numbers["stride"] = Sizes(dims, 2);
  d.numbers["padding"] = Sizes(dims, 0);
  return d;
}

Draft convolution(const Caller& caller, Numbers& n) {
  Draft d;
  const std::string_view name = caller.name;
  const bool depthwise = has(name, "Depthwise");
  const bool transposed = !depthwise && n.once_in(3);
  WindowSizes w(n, depthwise ? 2 : 1 + n.below(3), true);
  const int64_t groups = 1 + n.below(2);
  const int64_t batch = 1 + n.below(2);
  const int64_t channels = groups * (1 + n.below(3));
  const int64_t results = depthwise ? channels : groups * (1 + n.below(3));
  d.dtype = floating(n);
  name_windows(w, &d);
  Sizes read = joined({batch, channels}, w.in);
  Sizes result = joined({batch, results}, w.out);
  Sizes weight = joined({results, depthwise ? 1 : channels / groups}, w.kernel);
  if (transposed) {  // from the smaller image to the larger one, if the sizes leave no remainder
    for (size_t i = 0; i < w.in.size(); ++i) {
      read[i + 2] = w.out[i];
      result[i + 2] = (w.out[i] - 1) * w.stride[i] - 2 * w.padding[i] + w.dilation[i] * (w.kernel[i] - 1) + 1;
    }
    weight = joined({channels, results / groups}, w.kernel);
  }
  for (const char* role : {"input", "self", "gradInput"}) d.sizes[role] = read;
  for (const char* role : {"output", "out", "gradOutput"}) d.sizes[role] = result;
  for (const char* role : {"weight", "gradWeight"}) d.sizes[role] = weight;
  for (const char* role : {"bias", "gradBias"}) d.sizes[role] = {results};
  d.numbers["biasSizes"] = {results};
  d.numbers["transposed"] = {transposed};
  d.numbers["outputPadding"] = Sizes(w.in.size(), 0);
  d.numbers["groups"] = {groups};
  d.numbers["cubeMathType"] = {n.below(2)};
  return d;
}

// Sequences: [steps, batch, channels].
Draft sequence_convolution(const Caller& caller, Numbers& n) {
  Draft d;
  const int64_t steps = 4 + n.below(4);
  const int64_t kernel = 1 + n.below(3);
  const int64_t padding = n.below(2);
  const Sizes more = some(n, 3, 1, 3);  // batch, channels, results
  const Sizes in = {steps, more[0], more[1]};
  const Sizes out = {steps + 2 * padding - kernel + 1, more[0], more[2]};
  d.sizes["self"] = has(caller.name, "Backward") ? out : in;
  d.sizes["input"] = d.sizes["gradInput"] = in;
  d.sizes["out"] = out;
  d.sizes["weight"] = d.sizes["gradWeight"] = {kernel, more[1], more[2]};
  d.sizes["bias"] = d.sizes["gradBias"] = {more[2]};
  d.numbers["pad"] = {padding};
  d.numbers["cubeMathType"] = {0};
  return d;
}

Draft padding(const Caller& caller, Numbers& n) {
  Draft d;
  const size_t dims = dims_of(caller.name);
  const Sizes planes = some(n, 2, 1, 3);
  const Sizes in = some(n, dims, 3, 6);
  Sizes out = in;
  Sizes pads;
  for (size_t i = dims; i-- > 0;) {
    const Sizes pair = some(n, 2, 0, 2);
    pads = joined(pads, pair);
    out[i] += pair[0] + pair[1];
  }
  d.dtype = floating(n);
  for (const char* role : {"self", "gradInput"}) d.sizes[role] = joined(planes, in);
  for (const char* role : {"out", "gradOutput"}) d.sizes[role] = joined(planes, out);
  d.numbers["padding"] = d.numbers["pad"] = pads;
  return d;
}

Draft columns(const Caller& caller, Numbers& n) {
  Draft d;
  const WindowSizes w(n, 2, true);
  const Sizes planes = some(n, 2, 1, 3);
  const Sizes image = joined(planes, w.in);
  const Sizes result = {planes[0], planes[1] * w.kernel[0] * w.kernel[1], w.out[0] * w.out[1]};
  const bool back = has(caller.name, "Backward");
  name_windows(w, &d);
  d.sizes["self"] = image;
  d.sizes["gradOutput"] = result;
  d.sizes["out"] = back ? image : result;
  d.numbers["inputSize"] = w.in;
  return d;
}

Draft interpolation(const Caller& caller, Numbers& n) {
  Draft d;
  const size_t dims = dims_of(caller.name);
  const Sizes planes = some(n, 2, 1, 3);
  const Sizes in = some(n, dims, 1, 5);
  const Sizes out = some(n, dims, 1, 6);
  d.dtype = floating(n);
  for (const char* role : {"self", "gradInput"}) d.sizes[role] = joined(planes, in);
  for (const char* role : {"out", "gradOut"}) d.sizes[role] = joined(planes, out);
  d.numbers["outputSize"] = out;
  d.numbers["inputSize"] = joined(planes, in);
  for (const char* role : {"scalesL", "scalesD", "scalesH", "scalesW"}) d.reals[role] = 0;
  return d;
}

Draft sampling(const Caller& caller, Numbers& n) {
  Draft d;
  const size_t dims = dims_of(caller.name);
  const Sizes planes = some(n, 2, 1, 3);
  const Sizes in = joined(planes, some(n, dims, 1, 5));
  const Sizes at = some(n, dims, 1, 4);
  d.sizes["input"] = d.sizes["inputGrad"] = in;
  d.sizes["grid"] = d.sizes["gridGrad"] = joined(joined({planes[0]}, at), {static_cast<int64_t>(dims)});
  d.sizes["out"] = d.sizes["gradOutput"] = joined(planes, at);
  d.numbers["interpolationMode"] = {n.below(2)};
  d.numbers["paddingMode"] = {n.below(3)};
  return d;
}

// Sizes of queries and keys in one of the layouts.
struct Heads {
  const char* layout = "BNSD";
  Sizes query, key, statistics;

  Heads(Numbers& n, int64_t heads, int64_t width, bool packed) {
    const int64_t batch = 1 + n.below(2);
    const int64_t rows = 1 + n.below(4);
    const int64_t keys = packed ? rows : 1 + n.below(4);
    statistics = {batch, heads, rows, 8};
    const uint32_t which = packed ? 4 : n.below(4);
    const auto sizes = [&](int64_t length) -> Sizes {
      switch (which) {
        case 0: return {batch, heads, length, width};
        case 1: return {batch, length, heads, width};
        case 2: return {batch, length, heads * width};
        case 3: return {length, batch, heads * width};
        default: return {batch * length, heads, width};
      }
    };
    static constexpr const char* kNames[] = {"BNSD", "BSND", "BSH", "SBH", "TND"};
    layout = kNames[which];
    query = sizes(rows);
    key = sizes(keys);
    if (packed) statistics = {batch * rows, heads, 8};
  }
};

Draft attention(const Caller& caller, Numbers& n) {
  Draft d;
  const std::string_view name = caller.name;
  const bool packed = has(name, "VarLen") || has(name, "Unpadding");
  const bool infers = has(name, "Infer") || has(name, "Prompt") || has(name, "Incre");
  const int64_t heads = 1 + n.below(3);
  Heads h(n, heads, 8 * (1 + n.below(2)), packed);
  if (infers) {  // one query in incremental decoding, [batch, heads, rows, width]
    const int64_t width = 8;
    const int64_t batch = 1 + n.below(2);
    h.layout = "BNSD";
    h.query = {batch, heads, has(name, "Incre") ? 1 : 1 + n.below(4), width};
    h.key = {batch, heads, 1 + n.below(5), width};
  }
  d.dtype = infers ? n.one_of<aclDataType>({ACL_FLOAT16, ACL_BF16}) : floating(n);
  for (const char* role : {"query", "dy", "attentionIn", "attentionOut", "dq"}) d.sizes[role] = h.query;
  for (const char* role : {"key", "value", "dk", "dv"}) d.sizes[role] = h.key;
  for (const char* role : {"softmaxMax", "softmaxSum"}) {
    d.sizes[role] = h.statistics;
    d.dtypes[role] = ACL_FLOAT;
  }
  for (const Argument& argument : caller.arguments) {
    if (argument.optional && !d.sizes.contains(argument.name)) d.absent.insert(argument.name);
    if (argument.kind == Kind::kInt64) d.numbers[argument.name] = {0};
  }
  if (packed) {
    for (const char* role : {"actualSeqQLen", "actualSeqKvLen"}) {
      d.absent.erase(role);
      d.numbers[role] = {h.query[0]};
    }
  }
  for (const char* role : {"preTokens", "nextTokens"}) d.numbers[role] = {65535};
  for (const char* role : {"headNum", "numHeads", "numKeyValueHeads"}) d.numbers[role] = {heads};
  d.numbers["pseType"] = {1};
  d.numbers["softmaxLseFlag"] = {0};
  d.reals["scale"] = 0.5;
  d.reals["keepProb"] = 1;
  d.words["layout"] = h.layout;
  for (const char* role : {"softmaxOutLayout", "softmaxInLayout"})
    d.words[role] = n.below(2) == 0 ? "" : "same_as_input";
  return d;
}

Draft colors(const Caller& caller, Numbers& n) {
  Draft d;
  const int64_t channels = n.once_in(2) ? 1 : 3;
  const bool is_forward = !has(caller.name, "Backward");
  const Sizes location = some(n, 2, 1, 6);
  const auto image = [&](int64_t count) { return joined({count}, location); };
  d.dtype = floating(n);
  d.sizes["self"] = image(channels);
  d.sizes["gradOutput"] = image(3);
  d.sizes["out"] = image(is_forward ? 3 : channels);
  return d;
}

// The first matching part of the name decides.
constexpr std::pair<std::string_view, Rule> kRules[] = {
    {"MaxUnpool", &unpooling},       {"MaxPool", &pooling},
    {"AvgPool", &pooling},           {"ConvTbc", &sequence_convolution},
    {"Convolution", &convolution},   {"ConvDepthwise", &convolution},
    {"ReflectionPad", &padding},     {"ReplicationPad", &padding},
    {"ConstantPadNd", &padding},     {"Im2col", &columns},
    {"Upsample", &interpolation},    {"GridSampler", &sampling},
    {"FlashAttention", &attention},  {"FusedInferAttention", &attention},
    {"NpuFormatCast", &format_cast}, {"SepiaFilter", &colors},
};

}  // namespace

Draft draft(const Caller& caller, Numbers* numbers) {
  if (numbers->once_in(4)) return {};
  for (const auto& [part, rule] : kRules) {
    if (has(caller.name, part)) return rule(caller, *numbers);
  }
  if (const Rule rule = rule_of_rows(caller.name); rule != nullptr) return rule(caller, *numbers);
  return {};
}

}  // namespace fuzz
