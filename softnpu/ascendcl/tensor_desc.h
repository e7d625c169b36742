#pragma once
// What an aclTensorDesc says. Operators that are named by a string read it.

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
  // The first and the last value; a last one of -1 is no limit.
  using Range = std::array<int64_t, 2>;

  aclDataType dtype = ACL_DT_UNDEFINED;
  // As the description was made. {kAnyRank} alone: neither the number of sizes nor one of them is known.
  aclFormat format = ACL_FORMAT_UNDEFINED;
  std::vector<int64_t> dims;
  // How the elements lie in memory, and how they lay before formats were chosen, where that was said.
  std::optional<aclFormat> storage_format;
  std::optional<std::vector<int64_t>> storage_dims;
  std::optional<aclFormat> origin_format;
  std::optional<std::vector<int64_t>> origin_dims;

  std::vector<Range> shape_range;  // empty, or one for each size
  std::vector<Range> value_range;
  std::string name;
  std::string dynamic_input;
  aclMemType placement = ACL_MEMTYPE_DEVICE;
  std::optional<std::vector<char>> constant;  // a copy of the tensor's bytes where they are known beforehand

  bool rank_is_known() const { return dims.size() != 1 || dims[0] != kAnyRank; }
};

namespace softnpu {

// Exported: libacl_op_compiler reads the descriptions of a call.
ACL_FUNC_VISIBILITY Handles<aclTensorDesc>& tensor_descs();

// `count` sizes; at least kAnySize each, or kAnyRank alone.
Status read_desc_dims(int count, const int64_t* dims, std::vector<int64_t>* out);

// The description with its sizes in the order of `format`. What was said of bytes (storage, origin, constant) is not
// taken over: it holds for the order that it was said of.
Status transposed(const aclTensorDesc& desc, aclFormat format, aclTensorDesc* out);

}  // namespace softnpu
