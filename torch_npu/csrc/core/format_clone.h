#pragma once

#include <c10/core/StorageImpl.h>

namespace torch_npu {

// A copy of an npu storage that has a format, in this format: of its blocks if it has a private one. On the current
// stream. Null for storages without a format.
c10::intrusive_ptr<c10::StorageImpl> clone_with_format(const c10::StorageImpl& storage);

}  // namespace torch_npu
