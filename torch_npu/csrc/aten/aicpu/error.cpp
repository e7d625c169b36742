#include "aten/aicpu/error.h"

#include <c10/util/Exception.h>

#include <cctype>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>

#include "aten/operator_error.h"

namespace torch_npu::aicpu {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Whether one part of a longer word is "cpu", as in "bernoulli_tensor_cpu_p_".
bool names_cpu_kernel(std::string_view word) {
  for (std::size_t at = word.find("cpu"); at != std::string_view::npos; at = word.find("cpu", at + 1)) {
    const std::size_t end = at + 3;
    const bool starts = at == 0 || word[at - 1] == '_';
    const bool ends = end == word.size() || word[end] == '_';
    if (starts && ends && word.size() > 3) return true;
  }
  return false;
}

// Matches for example "CPUBFloat16Type".
bool is_cpu_type(std::string_view word) {
  return word.size() > 3 && word.starts_with("CPU") && std::isupper(static_cast<unsigned char>(word[3])) != 0 &&
         word.ends_with("Type");
}

// The replacement for a word of a message, given the text before and after it.
std::string replacement(std::string_view word, std::string_view before, std::string_view after, std::string_view op) {
  const bool is_quoted = before.ends_with('"') && after.starts_with("\" not implemented for");
  if (is_quoted || names_cpu_kernel(word)) return std::string(op);
  if (is_cpu_type(word)) return c10::str("npu", word.substr(3));
  // Messages that demand CPU tensors ("a CPU tensor") are not changed.
  if (word == "CPU" && (before.ends_with(" on ") || before.ends_with('('))) return "npu";
  if (word == "MKL") return "npu";
  // "torch.FloatTensor" is the type of a tensor on the CPU.
  if (before.ends_with("torch.") && word.size() > 6 && word.ends_with("Tensor")) return c10::str("npu.", word);
  return std::string(word);
}

// Replaces names of CPU kernels in `text` by the operator, and the CPU by npu; `found` returns whether there were any.
std::string renamed(std::string_view text, std::string_view op, bool* found) {
  std::string out;
  std::size_t at = 0;
  while (at < text.size()) {
    std::size_t end = at;
    while (end < text.size() && is_word(text[end]) == is_word(text[at])) ++end;
    const std::string_view chunk = text.substr(at, end - at);
    const std::string put =
        is_word(text[at]) ? replacement(chunk, text.substr(0, at), text.substr(end), op) : std::string(chunk);
    *found |= put != chunk;
    out += put;
    at = end;
  }
  return out;
}

[[noreturn]] void throw_out_of_memory(const char* op) {
  throw c10::OutOfMemoryError(
      {__func__, __FILE__, __LINE__},
      c10::str("aten::", base_name(op), " on npu: the host has no memory for what these arguments ask for"));
}

}  // namespace

std::string_view base_name(std::string_view op) {
  if (const auto colons = op.rfind(':'); colons != std::string_view::npos) op.remove_prefix(colons + 1);
  return op.substr(0, op.find('.'));
}

void rethrow_as_npu(const char* op) {
  try {
    throw;
  } catch (const c10::Error& error) {
    const std::string_view name = base_name(op);
    bool found = false;
    const std::string message = renamed(error.msg(), name, &found);
    if (!found) rethrow_with_code();
    throw_like(error, message + c10::str("\n(aten::", name, " on npu)"));
  } catch (const std::bad_alloc&) {
    throw_out_of_memory(op);
  } catch (const std::length_error&) {
    throw_out_of_memory(op);
  }
}

}  // namespace torch_npu::aicpu
