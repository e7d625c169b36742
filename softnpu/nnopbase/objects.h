#pragma once
// The pools of aclnn's objects, and the check of handles.

#include <string>

#include "aclnn/aclnn_base.h"
#include "base/no_destroy.h"
#include "base/pool.h"
#include "base/text.h"
#include "nnopbase/arrays.h"
#include "nnopbase/scalar.h"
#include "nnopbase/tensor.h"

namespace softnpu {

// The process's one pool of each kind. libnnopbase owns it: other libraries use live().
template <typename T>
Pool<T>& pool_of() {
  static NoDestroy<Pool<T>> instance;
  return instance.get();
}
inline Pool<aclTensor>& tensors() { return pool_of<aclTensor>(); }
inline Pool<aclScalar>& scalars() { return pool_of<aclScalar>(); }

// Checks that the object is live: not null, not destroyed, and of this kind. Does not detect that an address was reused
// by a new object of the kind.
template <typename T>
Status check_object(const Pool<T>& pool, const void* object, const char* kind) {
  if (object == nullptr) return {ACLNN_ERR_PARAM_NULLPTR, text("the ", kind, " is null")};
  if (pool.is_live(object)) return Status::ok();
  return {ACLNN_ERR_PARAM_INVALID, text(object, " is no live ", kind, ": it was destroyed, or never made")};
}

// Null is allowed, as for free(): an optional argument that was never created.
template <typename T>
Status destroy_object(Pool<T>& pool, const void* object, const char* kind) {
  if (object == nullptr || pool.destroy(object)) return Status::ok();
  return check_object(pool, object, kind);
}

}  // namespace softnpu
