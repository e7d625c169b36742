#include "graph/ir/elementwise.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace softnpu::graph {
namespace {

using std::literals::operator""sv;

constexpr std::array kTypes = {
    "Abs"sv,         "Acos"sv,       "Acosh"sv,     "Add"sv,        "Asin"sv,         "Asinh"sv,      "Atan"sv,
    "Atanh"sv,       "BitwiseAnd"sv, "BitwiseOr"sv, "BitwiseXor"sv, "Cast"sv,         "Ceil"sv,       "CeluV2"sv,
    "ClipByValue"sv, "Cos"sv,        "Cosh"sv,      "Elu"sv,        "Equal"sv,        "Erf"sv,        "Exp"sv,
    "Floor"sv,       "FloorMod"sv,   "Gelu"sv,      "Greater"sv,    "GreaterEqual"sv, "HardSwish"sv,  "Invert"sv,
    "LeakyRelu"sv,   "LeftShift"sv,  "Less"sv,      "LessEqual"sv,  "Log"sv,          "LogicalAnd"sv, "LogicalNot"sv,
    "LogicalOr"sv,   "Maximum"sv,    "Minimum"sv,   "Mish"sv,       "Mod"sv,          "Mul"sv,        "Neg"sv,
    "NotEqual"sv,    "OnesLike"sv,   "Pow"sv,       "RealDiv"sv,    "Reciprocal"sv,   "Relu"sv,       "RightShift"sv,
    "Round"sv,       "Rsqrt"sv,      "Select"sv,    "Sigmoid"sv,    "Sign"sv,         "Sin"sv,        "Sinh"sv,
    "SoftplusV2"sv,  "Sqrt"sv,       "Square"sv,    "Sub"sv,        "Swish"sv,        "Tan"sv,        "Tanh"sv,
    "TruncateDiv"sv, "ZerosLike"sv};
static_assert(std::ranges::is_sorted(kTypes));

}  // namespace

bool is_elementwise(const Node& node) {
  return node.outputs.size() == 1 && std::ranges::binary_search(kTypes, std::string_view(node.type));
}

}  // namespace softnpu::graph
