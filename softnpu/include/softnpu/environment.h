#pragma once
// Environment variables by the rows of torch_npu/_core/environment.tsv. C++ of both halves reads them here only, as
// Python does in torch_npu/_core/environment.py: a variable that is empty counts as one that is not set, and a value
// that a variable does not take has the same text. A name without a row, or with a row of another type, does not
// compile.

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace softnpu::environment {

enum class Type : uint8_t { kFlag, kChoice, kInteger, kPair, kText };

struct Variable {
  const char* name;
  Type type;
  std::string_view otherwise;  // the default; empty if there is none
  std::string_view values;     // what it takes
  uint64_t least = 0;          // of an integer
  uint64_t most = 0;
};

inline constexpr Variable kVariables[] = {
#include "opgen/environment.inc"
};

// The row of a variable of one type, found by the compiler.
template <Type... kTypes>
class Name {
 public:
  consteval Name(const char* name) : variable_(find(name)) {
    if (((variable_->type != kTypes) && ...)) throw "the variable's row has another type";
  }
  template <Type... kOthers>
  constexpr Name(Name<kOthers...> other) : variable_(&*other) {}

  const Variable& operator*() const { return *variable_; }
  const Variable* operator->() const { return variable_; }

 private:
  static consteval const Variable* find(std::string_view name) {
    for (const Variable& variable : kVariables) {
      if (variable.name == name) return &variable;
    }
    throw "the variable has no row in environment.tsv";
  }

  const Variable* variable_;
};
using AnyName = Name<Type::kFlag, Type::kChoice, Type::kInteger, Type::kPair, Type::kText>;

// A variable that was read. `value` is the default where the variable is not set, or where `error` says what is wrong
// with it; nothing if there is no default.
template <typename T>
struct Read {
  std::optional<T> value;
  std::string error;
};

// Where values come from: getenv's signature.
using Get = const char* (*)(const char*);
inline const char* get_from_process(const char* name) { return std::getenv(name); }

// What is wrong with a value; for texts whose readers parse them further.
inline std::string misunderstood(std::string_view name, std::string_view value, std::string_view takes) {
  std::string created(name);
  return created.append("=").append(value).append(" is not understood: it takes ").append(takes);
}

// The value as it is, also if it is empty.
inline std::optional<std::string> given(AnyName name, Get get = &get_from_process) {
  const char* value = get(name->name);
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

// Whether it is set, and not empty.
inline bool is_set(AnyName name, Get get = &get_from_process) { return !given(name, get).value_or("").empty(); }

namespace detail {

inline std::optional<bool> parse_flag(std::string_view text, const Variable& /*row*/) {
  if (text != "0" && text != "1") return std::nullopt;
  return text == "1";
}

inline std::optional<std::string> parse_choice(std::string_view text, const Variable& row) {
  constexpr std::string_view kBetween = ", ";
  for (std::string_view rest = row.values;;) {
    const size_t end = rest.find(kBetween);
    if (rest.substr(0, end) == text) return std::string(text);
    if (end == std::string_view::npos) return std::nullopt;
    rest.remove_prefix(end + kBetween.size());
  }
}

inline std::optional<uint64_t> parse_integer(std::string_view text, const Variable& row) {
  uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end || number < row.least || number > row.most) return std::nullopt;
  return number;
}

// The words of a choice as a sentence has them: "0, 1 or 2".
inline std::string allowed(const Variable& row) {
  if (row.type == Type::kFlag) return "0 or 1";
  std::string words(row.values);
  const size_t last = words.rfind(", ");
  if (row.type == Type::kChoice && last != std::string::npos) words.replace(last, 2, " or ");
  return words;
}

template <typename T>
Read<T> read(const Variable& row, Get get, std::optional<T> (*parse)(std::string_view, const Variable&)) {
  Read<T> created{parse(row.otherwise, row), {}};
  const char* value = get(row.name);
  if (value == nullptr || *value == '\0') return created;
  if (auto parsed = parse(value, row)) {
    created.value = std::move(parsed);
  } else {
    created.error = misunderstood(row.name, value, allowed(row));
  }
  return created;
}

}  // namespace detail

inline Read<bool> flag(Name<Type::kFlag> name, Get get = &get_from_process) {
  return detail::read(*name, get, &detail::parse_flag);
}
inline Read<std::string> choice(Name<Type::kChoice> name, Get get = &get_from_process) {
  return detail::read(*name, get, &detail::parse_choice);
}
inline Read<uint64_t> integer(Name<Type::kInteger> name, Get get = &get_from_process) {
  return detail::read(*name, get, &detail::parse_integer);
}
// Empty where it is neither set nor has a default.
inline std::string text(Name<Type::kText> name, Get get = &get_from_process) {
  return is_set(name, get) ? *given(name, get) : std::string(name->otherwise);
}

}  // namespace softnpu::environment
