#pragma once
// ge::AscendString, with which programs pass options to ge::, as their compilers laid it out: one shared pointer. They
// copy and destroy it by code of their own.

#include <memory>

#include "acl/acl_base.h"

namespace ge {

class AscendString {
 public:
  AscendString() = default;
  ACL_FUNC_VISIBILITY explicit AscendString(const char* name);  // null: no text

  // "" if there is no text.
  ACL_FUNC_VISIBILITY const char* GetString() const;
  ACL_FUNC_VISIBILITY bool operator<(const AscendString& other) const;

 private:
  struct Text;  // no std::string: its layout depends on the client's ABI

  std::shared_ptr<const Text> text_;
};

}  // namespace ge
