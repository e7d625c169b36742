#include "aten/aicpu/error.h"

#include <c10/util/Exception.h>

#include <cctype>
#include <string>
#include <string_view>

namespace torch_npu::aicpu {
namespace {

// "add" of "aten::add.Tensor".
std::string_view base_name(std::string_view op) {
  if (const auto colons = op.rfind(':'); colons != std::string_view::npos) op.remove_prefix(colons + 1);
  return op.substr(0, op.find('.'));
}

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// A word one part of which is "cpu", as in "bernoulli_tensor_cpu_p_".
bool names_cpu_kernel(std::string_view word) {
  const auto at = word.find("_cpu");
  return at != std::string_view::npos && at > 0 && (at + 4 == word.size() || word[at + 4] == '_');
}

// `text` with the operator in place of CPU kernels; `found` tells whether there were any.
std::string renamed(std::string_view text, std::string_view op, bool* found) {
  std::string out;
  while (!text.empty()) {
    std::size_t length = 0;
    while (length < text.size() && is_word(text[length]) == is_word(text[0])) ++length;
    const std::string_view piece = text.substr(0, length);
    const bool is_kernel = is_word(text[0]) && names_cpu_kernel(piece);
    *found |= is_kernel;
    out += is_kernel ? op : piece;
    text.remove_prefix(length);
  }
  return out;
}

template <typename E>
void throw_if_of_type(const c10::Error& error, const std::string& message) {
  if (dynamic_cast<const E*>(&error) != nullptr) throw E({__func__, __FILE__, __LINE__}, message);
}

}  // namespace

void rethrow_as_npu(const char* op) {
  try {
    throw;
  } catch (const c10::Error& error) {
    const std::string_view name = base_name(op);
    bool found = false;
    std::string message = renamed(error.msg(), name, &found);
    if (!found) throw;
    message += c10::str("\n(aten::", name, " on npu)");
    throw_if_of_type<c10::NotImplementedError>(error, message);
    throw_if_of_type<c10::IndexError>(error, message);
    throw_if_of_type<c10::ValueError>(error, message);
    throw_if_of_type<c10::TypeError>(error, message);
    throw_if_of_type<c10::LinAlgError>(error, message);
    throw c10::Error({__func__, __FILE__, __LINE__}, message);
  }
}

}  // namespace torch_npu::aicpu
