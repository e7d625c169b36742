#pragma once
// Autograd's device threads, which PyTorch's engine starts at the first backward pass of a process.

namespace torch_npu {

// Waits until every thread that the engine started has started, at most ten seconds; the caller does not hold Python's
// lock. A short program may end while such a thread still waits for that lock. The interpreter then ends the thread,
// and the engine would wait for it until TORCH_AUTOGRAD_SHUTDOWN_WAIT_LIMIT.
void wait_for_autograd_threads();

}  // namespace torch_npu
