// While on, what PyTorch asks of device type cuda is done on npu: for programs written for CUDA, on a torch without it.
#pragma once

namespace torch_npu {

// Not thread-safe: the caller holds the GIL, and no other thread uses cuda devices meanwhile. Doing it twice is
// harmless. Throws if another backend serves device type cuda.
void set_cuda_redirect(bool on);

}  // namespace torch_npu
