// What follows a convolution channel by channel becomes part of its filter and bias, paddings before it part of its
// own.

#include <algorithm>
#include <cmath>
#include <optional>

#include "graph/ir/numbers.h"
#include "graph/passes/editor.h"
#include "graph/passes/passes.h"

namespace softnpu::graph {
namespace {

bool is_convolution(const Node* node) { return node != nullptr && (node->type == "Conv2D" || node->type == "Conv3D"); }

// y = factor[c] x + shift[c]
struct Affine {
  std::vector<double> factor;
  std::vector<double> shift;
};

class Folder {
 public:
  explicit Folder(Editor* editor) : edit_(*editor) {}

  bool operator()(const Node& node) { return fold_padding(node) || fold_affine(node); }

 private:
  // The numbers of a constant that has one per channel, or one for all, and broadcasts to an image of `rank`
  // dimensions.
  std::optional<std::vector<double>> per_channel(const Operand& operand, size_t rank, size_t channels) const {
    if (!edit_.is_constant(operand.value)) return std::nullopt;
    const Dims& dims = edit_.dims(operand.value);
    const auto count = static_cast<size_t>(element_count(dims));
    if (dims.size() > rank) return std::nullopt;
    // The channels are dimension 1 of the image.
    const bool is_channel =
        dims.size() + 1 >= rank && count == channels && dims[dims.size() + 1 - rank] == static_cast<int64_t>(channels);
    if (count != 1 && !is_channel) return std::nullopt;
    std::vector<double> numbers;
    if (!read_numbers(edit_.value(operand.value), &numbers).is_ok()) return std::nullopt;
    if (numbers.size() == 1) numbers.resize(channels, numbers[0]);
    return numbers;
  }

  std::optional<std::vector<double>> vector_of(const Operand& operand, size_t channels) const {
    std::vector<double> numbers;
    const bool is_constant = edit_.is_constant(operand.value);
    if (!is_constant || !read_numbers(edit_.value(operand.value), &numbers).is_ok() || numbers.size() != channels) {
      return std::nullopt;
    }
    return numbers;
  }

  // What a node computes of its operand number `image`.
  std::optional<Affine> affine_of(const Node& node, size_t image, size_t channels) const {
    Affine created{std::vector<double>(channels, 1), std::vector<double>(channels, 0)};
    if (node.type == "BNInfer") {
      if (image != 0 || node.inputs.size() != 5) return std::nullopt;
      std::vector<std::vector<double>> statistics;
      for (size_t i = 1; i < 5; ++i) {
        const auto numbers = vector_of(node.inputs[i], channels);
        if (!numbers.has_value()) return std::nullopt;
        statistics.push_back(*numbers);
      }
      const double epsilon = attribute(node, "epsilon", 1e-5F);
      for (size_t c = 0; c < channels; ++c) {
        created.factor[c] = statistics[0][c] / std::sqrt(statistics[3][c] + epsilon);
        created.shift[c] = statistics[1][c] - statistics[2][c] * created.factor[c];
      }
      return created;
    }
    if (node.inputs.size() != 2) return std::nullopt;
    const auto numbers = per_channel(node.inputs[1 - image], edit_.dims(node.outputs[0]).size(), channels);
    if (!numbers.has_value()) return std::nullopt;
    if (node.type == "Mul") {
      created.factor = *numbers;
    } else if (node.type == "Add") {
      created.shift = *numbers;
    } else if (node.type == "Sub" && image == 0) {
      for (size_t c = 0; c < channels; ++c) created.shift[c] = -(*numbers)[c];
    } else {
      return std::nullopt;
    }
    return created;
  }

  // A convolution that only `id`, its result or a view of it with the same channels, makes available.
  const Node* convolution_of(ValueId id) const {
    if (id == kNoValue || edit_.uses(id) != 1 || edit_.is_output(id)) return nullptr;
    const Value& value = edit_.value(id);
    ValueId result = id;
    if (value.kind == ValueKind::kView) {
      result = value.base;
      const Dims& inner = edit_.dims(result);
      const bool has_channels =
          value.dims.size() > 1 && inner.size() > 1 && value.dims[0] == inner[0] && value.dims[1] == inner[1];
      if (!has_channels || edit_.uses(result) != 1) return nullptr;
    }
    const Node* node = edit_.producer(result);
    return is_convolution(node) ? node : nullptr;
  }

  bool fold_affine(const Node& node) {
    if (node.type != "BNInfer" && node.type != "Mul" && node.type != "Add" && node.type != "Sub") return false;
    for (size_t image = 0; image < std::min<size_t>(node.inputs.size(), 2); ++image) {
      const Node* convolution = convolution_of(node.inputs[image].value);
      if (convolution != nullptr && fold(node, image, *convolution)) return true;
    }
    return false;
  }

  bool fold(const Node& node, size_t image, Node convolution) {
    const ValueId filter = convolution.inputs[1].value;
    const ValueId before = node.inputs[image].value;
    const ValueId output = node.outputs[0];
    const aclDataType dtype = edit_.value(filter).dtype;
    const bool has_bias = convolution.inputs.size() > 2 && convolution.inputs[2].value != kNoValue;
    if (!edit_.is_constant(filter) || edit_.dims(output) != edit_.dims(before) || edit_.value(output).dtype != dtype) {
      return false;
    }
    const auto channels = static_cast<size_t>(edit_.dims(filter)[0]);
    const std::optional<Affine> affine = affine_of(node, image, channels);
    if (!affine.has_value() || channels == 0) return false;
    std::vector<double> bias(channels, 0);
    if (has_bias) {
      const auto own = vector_of(convolution.inputs[2], channels);
      if (!own.has_value()) return false;
      bias = *own;
    }
    std::vector<double> weights;
    if (!read_numbers(edit_.value(filter), &weights).is_ok()) return false;
    const size_t width = weights.size() / channels;
    bool scales = false;
    for (size_t c = 0; c < channels; ++c) {
      const double factor = affine->factor[c];
      bias[c] = bias[c] * factor + affine->shift[c];
      // A filter of infinities would make NaN of zeros.
      if (!std::isfinite(factor) || !std::isfinite(bias[c])) return false;
      scales |= factor != 1;
      for (size_t i = c * width; i < (c + 1) * width; ++i) weights[i] *= factor;
    }
    const Dims inner = edit_.dims(convolution.outputs[0]);
    ValueId created = output;
    if (inner != edit_.dims(output)) {
      created = edit_.result(dtype, inner);
      if (!edit_.alias(output, created)) return false;
    }
    if (scales) convolution.inputs[1].value = edit_.constant(dtype, edit_.dims(filter), weights);
    convolution.inputs.resize(3);
    convolution.inputs[2] = {edit_.constant(dtype, {static_cast<int64_t>(channels)}, bias), false};
    convolution.outputs = {created};
    edit_.emit(std::move(convolution));
    return true;
  }

  // Zeros around an image that a convolution reads, where they are the same on both sides.
  bool fold_padding(const Node& node) {
    if (!is_convolution(&node)) return false;
    const Node* padding = edit_.producer(node.inputs[0].value, "PadV3");
    if (padding == nullptr || attribute(*padding, "mode", std::string("constant")) != "constant") return false;
    const bool has_value = padding->inputs.size() > 2 && padding->inputs[2].value != kNoValue;
    if (has_value && edit_.number(padding->inputs[2]) != 0.0) return false;
    const std::vector<int64_t> added = edit_.integers(padding->inputs[1]);
    std::vector<int64_t> pads = attribute(node, "pads", std::vector<int64_t>());
    if (added.size() != pads.size() + 4) return false;
    for (size_t i = 0; i < added.size(); ++i) {
      if (added[i] < 0 || (i < 4 && added[i] != 0)) return false;
      if (i >= 4) pads[i - 4] += added[i];
    }
    for (size_t i = 0; i < pads.size(); i += 2) {
      if (pads[i] != pads[i + 1]) return false;
    }
    Node changed = node;
    changed.inputs[0] = padding->inputs[0];
    changed.attributes = with_attribute(node, "pads", std::move(pads));
    edit_.emit(std::move(changed));
    return true;
  }

  Editor& edit_;
};

}  // namespace

Status fold_into_convolutions(Graph* graph) { return rewrite<Folder>(graph); }

}  // namespace softnpu::graph
