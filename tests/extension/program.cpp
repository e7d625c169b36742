// A program without Python, for test_program.py.

#include <ATen/ops/add.h>
#include <ATen/ops/full.h>
#include <ATen/ops/item.h>

#include <cstdio>

#include "op_plugin/utils/op_api_common.h"
#include "torch_npu/torch_npu.h"

int main(int argc, char**) {
  torch_npu::init_npu("npu:0");
  const at::Device device("npu:0");
  if (argc > 1) torch_npu::init_npu("cpu");  // throws
  {
    const at::Tensor x = at::full({1000}, 2.0, at::TensorOptions(device).dtype(at::kFloat));
    at::Tensor y = at::add(x, x);
    EXEC_NPU_CMD(aclnnAdd, x, y, at::Scalar(10), y);
    torch::npu::synchronize();
    std::printf("%g on npu:%d\n", y.sum().item().toDouble(), static_cast<int>(c10::npu::current_device()));
  }
  torch_npu::finalize_npu();
}
