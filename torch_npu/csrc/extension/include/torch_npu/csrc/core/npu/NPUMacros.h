#pragma once
// Marks what libtorch_npu.so exports for extensions.

#define C10_NPU_EXPORT __attribute__((__visibility__("default")))
#define C10_NPU_IMPORT C10_NPU_EXPORT
#define C10_NPU_API C10_NPU_EXPORT
#define TORCH_NPU_API C10_NPU_EXPORT

#define C10_COMPILE_TIME_MAX_NPUS 16
