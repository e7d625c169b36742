#include "ge/ascend_string.h"

#include <string>

namespace ge {

struct AscendString::Text {
  std::string words;
};

AscendString::AscendString(const char* name)
    : text_(name == nullptr ? nullptr : std::make_shared<const Text>(Text{name})) {}

const char* AscendString::GetString() const { return text_ == nullptr ? "" : text_->words.c_str(); }

bool AscendString::operator<(const AscendString& other) const {
  if (text_ == nullptr || other.text_ == nullptr) return text_ == nullptr && other.text_ != nullptr;
  return text_->words < other.text_->words;
}

}  // namespace ge
