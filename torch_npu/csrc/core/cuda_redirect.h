// While on, what PyTorch asks of device type cuda is done on npu: for programs written for CUDA, on a torch without it,
// or on a machine without a GPU.
#pragma once

namespace torch_npu {

// Not thread-safe: the caller holds the GIL, and no other thread uses cuda devices meanwhile. Doing it twice is
// harmless. Throws if there is a GPU.
void set_cuda_redirect(bool on);

}  // namespace torch_npu
