#include "ops/list/foreach/chunks.h"

#include "base/text.h"
#include "ops/core/dtype.h"
#include "ops/core/listed.h"
#include "ops/list/foreach/list_plan.h"

namespace softnpu {

Status cut_list(const aclTensorList& list, const char* role, Tiles::Access access, ListPieces* out) {
  SOFTNPU_RETURN_IF_ERROR(check_list(list, role, list.size()));
  for (size_t i = 0; i < list.size(); ++i) {
    if (!is_known(list[i]->dtype) || is_integral(list[i]->dtype)) {
      return {ACLNN_ERR_PARAM_INVALID,
              text(role, "[", i, "] is of ", name_of(list[i]->dtype), "; floating-point and complex types are taken")};
    }
    Space space;
    SOFTNPU_RETURN_IF_ERROR(Space::make({&list[i], 1}, access == Tiles::Access::kRead ? 0 : 1, &space));
    const Tiles::Use use{list[i]->dtype, access};
    out->tensors.emplace_back(std::move(space), std::span(&use, 1));
    const int64_t count = out->tensors.back().count();
    SOFTNPU_RETURN_IF_ERROR(check_listed(checked(count / Tiles::kGrain) + out->pieces.size(), "pieces of tensors"));
    for (int64_t first = 0; first < count; first += Tiles::kGrain) {
      out->pieces.push_back({i, first, std::min(count, first + Tiles::kGrain)});
    }
    out->elements += static_cast<double>(count);
  }
  return Status::ok();
}

}  // namespace softnpu
