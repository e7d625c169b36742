#pragma once
// The fields of an aclTensorDesc, for operators invoked through aclopCompileAndExecute.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "acl/acl_base.h"
#include "base/handles.h"

struct aclTensorDesc {
  static constexpr int64_t kAnySize = -1;
  static constexpr int64_t kAnyRank = -2;
  // The first and the last value; a last value of -1 means no limit.
  using Range = std::array<int64_t, 2>;

  aclDataType dtype = ACL_DT_UNDEFINED;
  // Format and sizes as passed at creation. `dims` of {kAnyRank} alone: neither the rank nor any size is known.
  aclFormat format = ACL_FORMAT_UNDEFINED;
  std::vector<int64_t> dims;
  // The formats of the elements in memory, now and before formats were chosen, if they were set.
  std::optional<aclFormat> storage_format;
  std::optional<std::vector<int64_t>> storage_dims;
  std::optional<aclFormat> origin_format;
  std::optional<std::vector<int64_t>> origin_dims;

  std::vector<Range> shape_range;  // empty, or one range per dimension
  std::vector<Range> value_range;
  std::string name;
  std::string dynamic_input;
  aclMemType placement = ACL_MEMTYPE_DEVICE;
  std::optional<std::vector<char>> constant;  // a copy of the tensor's bytes, if they are known in advance

  bool rank_is_known() const { return dims.size() != 1 || dims[0] != kAnyRank; }
};

namespace softnpu {

// Exported: libacl_op_compiler reads the descriptions of a call.
ACL_FUNC_VISIBILITY Handles<aclTensorDesc>& tensor_descs();

// `count` sizes: each at least kAnySize, or kAnyRank alone.
Status read_desc_dims(int count, const int64_t* dims, std::vector<int64_t>* out);

// The description with its sizes in the order of `format`. Settings about memory (storage, origin, constant) are not
// copied: they are valid for the original order only.
Status transposed(const aclTensorDesc& desc, aclFormat format, aclTensorDesc* out);

}  // namespace softnpu
