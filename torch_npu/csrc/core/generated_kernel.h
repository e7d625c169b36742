#pragma once
// Kernels that torch.compile generates for the host's processor, launched as tasks of a stream. Only on softnpu, whose
// memory the host reads.

#include <ATen/core/Tensor.h>
#include <c10/core/Stream.h>
#include <softnpu/launch.h>

#include <cstdint>
#include <string>
#include <vector>

namespace torch_npu {

// An argument of a generated kernel.
union KernelWord {
  void* pointer;  // of the first element, for host kernels
  int64_t integer;
  double number;
};

// What the OpenMP calls of a generated kernel are bound to. Its layout is known to torch_npu/_inductor/source.py.
struct KernelThreads {
  void (*parallel)(void (*body)(void*), void* data, unsigned threads);
  void (*barrier)();
  int (*thread)();
  int (*threads)();
};

// The functions for it, on softnpu's workers. Throws on a CANN whose memory the host cannot read.
const KernelThreads* kernel_threads();

// A loaded kernel; lives until the process ends, since queued calls use it.
struct GeneratedKernel {
  std::string name;
  std::string signature;  // per argument: r, a tensor that it reads; w, one that it writes; i, an integer; d, a number
  void (*run)(const KernelWord* arguments);
  double work;  // per element of the largest tensor, in units of softnpu's Plan::work, without reading and writing
};

struct KernelCall {
  const GeneratedKernel* kernel;
  std::vector<KernelWord> arguments;
  std::vector<softnpuRange> written;
  std::vector<at::Tensor> kept;  // in host memory
  double elements = 0;           // of all tensors
  double largest = 0;            // elements of the largest one
  int threads = 1;               // at most
};

// Adds a tensor to the arguments; its elements must not be changed by the host until the call ran. A small CPU tensor
// that is only read is copied.
void add_argument(KernelCall& call, const at::Tensor& tensor, bool is_written, c10::DeviceIndex device);

// Enqueues the call. A failure is returned by the stream's next synchronisation.
void launch_generated(KernelCall call, c10::Stream stream);

// Launches by this process.
uint64_t generated_launches() noexcept;

}  // namespace torch_npu
