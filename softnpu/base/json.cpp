#include "base/json.h"

#include <charconv>

#include "base/text.h"

namespace softnpu {
namespace {

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  Status read(Json* out) {
    SOFTNPU_RETURN_IF_ERROR(value(out, 0));
    skip();
    return at_ == text_.size() ? Status::ok() : wrong("the end");
  }

 private:
  static constexpr int kMaxDepth = 64;

  Status wrong(const char* expected) const {
    return {ACL_ERROR_INVALID_FILE, softnpu::text("no JSON at character ", at_ + 1, ": ", expected, " is missing")};
  }
  void skip() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) ++at_;
  }
  bool take(std::string_view word) {
    skip();
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }

  Status value(Json* out, int depth) {
    if (depth > kMaxDepth) return wrong("a shallower nesting");
    if (take("{")) return object(out, depth);
    if (take("[")) return list(out, depth);
    if (take("\"")) return string(&out->value.emplace<std::string>());
    if (take("true")) return set(out, true);
    if (take("false")) return set(out, false);
    if (take("null")) return set(out, nullptr);
    double number = 0;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), number);
    if (error != std::errc()) return wrong("a value");
    at_ = static_cast<size_t>(end - text_.data());
    return set(out, number);
  }
  template <typename T>
  static Status set(Json* out, T value) {
    out->value = value;
    return Status::ok();
  }

  Status object(Json* out, int depth) {
    auto& members = out->value.emplace<Json::Object>();
    if (take("}")) return Status::ok();
    do {
      std::string name;
      if (!take("\"")) return wrong("a name in quotes");
      SOFTNPU_RETURN_IF_ERROR(string(&name));
      if (!take(":")) return wrong("a colon");
      SOFTNPU_RETURN_IF_ERROR(value(&members[name], depth + 1));
    } while (take(","));
    return take("}") ? Status::ok() : wrong("a closing brace");
  }
  Status list(Json* out, int depth) {
    auto& elements = out->value.emplace<Json::List>();
    if (take("]")) return Status::ok();
    do {
      SOFTNPU_RETURN_IF_ERROR(value(&elements.emplace_back(), depth + 1));
    } while (take(","));
    return take("]") ? Status::ok() : wrong("a closing bracket");
  }

  // After the opening quote.
  Status string(std::string* out) {
    while (at_ < text_.size() && text_[at_] != '"') {
      char c = text_[at_++];
      if (c == '\\') {
        if (at_ == text_.size()) return wrong("a character behind the backslash");
        c = text_[at_++];
        if (c == 'u') return unicode(out);
        if (c == 'n') c = '\n';
        if (c == 't') c = '\t';
        if (c == 'r') c = '\r';
        if (c == 'b') c = '\b';
        if (c == 'f') c = '\f';
      }
      *out += c;
    }
    if (at_ == text_.size()) return wrong("a closing quote");
    ++at_;
    return Status::ok();
  }
  // Four hexadecimal digits of a character of ASCII; configurations need no others.
  Status unicode(std::string* out) {
    unsigned code = 0;
    const std::string_view digits = text_.substr(at_, 4);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
    if (error != std::errc() || end != digits.data() + 4 || code == 0 || code > 0x7f)
      return wrong("a character of ASCII");
    at_ += 4;
    *out += static_cast<char>(code);
    return string(out);
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

const Json* Json::find(std::string_view name) const {
  const auto* object = std::get_if<Object>(&value);
  if (object == nullptr) return nullptr;
  const auto found = object->find(name);
  return found == object->end() ? nullptr : &found->second;
}

Status parse_json(std::string_view text, Json* out) { return Reader(text).read(out); }

}  // namespace softnpu
