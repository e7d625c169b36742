#include "ascendc/header_functions.h"

#include <regex>

namespace {

std::string without_comments(const std::string& text) { return std::regex_replace(text, std::regex("//[^\\n]*"), ""); }

// `text` with each SOFTNPU_KERNEL_* macro of functions in the place of its uses, its first parameter replaced; other
// lines of the preprocessor are left out.
std::string expanded(const std::string& text) {
  static const std::regex kDefine(R"(#define (SOFTNPU_KERNEL_\w+)\((\w+)[^\\\n]*((?:\\\n[^\\\n]*)*))");
  std::string rest = std::regex_replace(text, kDefine, "");
  for (std::sregex_iterator at(text.begin(), text.end(), kDefine), end; at != end; ++at) {
    const std::string macro = (*at)[1];
    const std::string parameter = (*at)[2];
    const std::string body = std::regex_replace((*at)[3].str(), std::regex(R"(\\\n)"), "\n");
    const std::regex use("\\n *" + macro + R"(\(([^,\)]+)[^\n]*\))");
    std::string replaced;
    std::smatch found;
    while (std::regex_search(rest, found, use)) {
      const std::string one = std::regex_replace(body, std::regex("\\b" + parameter + "\\b"), found[1].str());
      replaced += found.prefix().str() + "\n" + one;
      rest = found.suffix();
    }
    rest = replaced + rest;
  }
  return std::regex_replace(rest, std::regex("\\n *#[^\\n]*"), "");
}

// From the parenthesis at `begin` to the one that closes it.
std::string within_parentheses(const std::string& text, size_t begin) {
  int depth = 0;
  for (size_t i = begin; i < text.size(); ++i) {
    depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    if (depth == 0) return text.substr(begin + 1, i - begin - 1);
  }
  return "";
}

void add_function(const std::string& head, bool is_in_class, std::vector<HeaderFunction>* functions) {
  static const std::regex kFunction(R"(\bvoid (\w+)\()");
  static const std::regex kOperator(R"(\bfriend [^;]*(operator) ?([^\w\s(]+)\()");
  std::smatch found;
  if (!std::regex_search(head, found, is_in_class ? kOperator : kFunction)) return;
  const std::string name = is_in_class ? "operator" + found[2].str() : found[1].str();
  const auto open = static_cast<size_t>(found.position(0) + found.length(0) - 1);
  functions->push_back({name, head, within_parentheses(head, open)});
}

}  // namespace

std::vector<HeaderFunction> functions_of(const std::string& header) {
  enum class Scope { kAscendC, kOtherNamespace, kClass, kBody };
  const std::string text = expanded(without_comments(header));
  std::vector<HeaderFunction> functions;
  std::vector<Scope> scopes;
  std::string head;
  int parentheses = 0;
  for (const char c : text) {
    parentheses += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (parentheses == 0 && c == '{') {
      const bool is_outside = scopes.empty() || (scopes.size() == 1 && scopes[0] == Scope::kAscendC);
      const bool is_in_class = !scopes.empty() && scopes.back() == Scope::kClass;
      if (std::regex_search(head, std::regex("namespace AscendC *$"))) {
        scopes.push_back(Scope::kAscendC);
      } else if (std::regex_search(head, std::regex("\\bnamespace "))) {
        scopes.push_back(Scope::kOtherNamespace);
      } else if (std::regex_search(head, std::regex("\\b(class|struct) \\w+ *$"))) {
        scopes.push_back(Scope::kClass);
      } else {
        if (is_outside || is_in_class) add_function(head, is_in_class, &functions);
        scopes.push_back(Scope::kBody);
      }
      head.clear();
    } else if (parentheses == 0 && (c == '}' || c == ';')) {
      if (c == '}' && !scopes.empty()) scopes.pop_back();
      head.clear();
    } else {
      head += c == '\n' ? ' ' : c;
    }
  }
  return functions;
}

std::set<std::string> masks_of(const HeaderFunction& function) {
  const auto has = [&](const char* pattern) { return std::regex_search(function.parameters, std::regex(pattern)); };
  std::set<std::string> masks;
  const bool has_any = has(R"(const Mask& mask\b)");
  const bool has_number = has(R"(\bu?int(32|64)_t mask\b)") && !has(R"(bool counts)");
  const bool has_bits = has(R"(uint64_t ?\* mask\b|uint64_t \(&mask\))");
  if (has_any || has_number) masks.insert({"mask", "counter"});
  if (has_any || has_bits) masks.insert("bits");
  const bool may_keep = std::regex_search(function.head, std::regex("bool (isSetMask|sets_mask)"));
  if (may_keep && !masks.empty()) masks.insert("core");
  if (masks.empty() && has(R"(\bcount\b)") && has("Tensor<")) masks.insert("count");
  return masks;
}
