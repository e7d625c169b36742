#pragma once
// The attributes of an operator invoked through aclopCompileAndExecute. libascendcl creates them; the library that runs
// the operator reads them.

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "acl/acl_op.h"
#include "base/handles.h"

namespace softnpu {

// One alternative per aclopSetAttr function.
using OpAttrValue = std::variant<bool, int64_t, float, std::string, aclDataType, std::vector<bool>,
                                 std::vector<int64_t>, std::vector<float>, std::vector<std::string>,
                                 std::vector<aclDataType>, std::vector<std::vector<int64_t>>>;

}  // namespace softnpu

struct aclopAttr {
  std::map<std::string, softnpu::OpAttrValue, std::less<>> values;
};

namespace softnpu {

// Exported: libacl_op_compiler reads the attributes of a call.
ACL_FUNC_VISIBILITY Handles<aclopAttr>& op_attrs();

}  // namespace softnpu
