#pragma once
// Operators that are nondeterministic on Ascend NPUs.

namespace torch_npu {

// Makes these operators raise or warn, as at::Context says, while deterministic algorithms are demanded. To be called
// once, when all operators are registered.
void alert_of_nondeterminism();

}  // namespace torch_npu
