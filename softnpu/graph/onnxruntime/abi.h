#pragma once
// What the execution provider uses of ONNX Runtime's C API, version 23: a table of functions that only grows, in which
// a function has a fixed index, and structs of functions that the provider fills.

#include <cstddef>
#include <cstdint>

extern "C" {
struct OrtStatus;
struct OrtLogger;
struct OrtGraph;
struct OrtNode;
struct OrtOpAttr;
struct OrtValue;
struct OrtValueInfo;
struct OrtTypeInfo;
struct OrtTensorTypeAndShapeInfo;
struct OrtKernelContext;
struct OrtKeyValuePairs;
struct OrtSessionOptions;
struct OrtHardwareDevice;
struct OrtEpDevice;
struct OrtEpGraphSupportInfo;
struct OrtNodeComputeContext;
struct OrtMemoryInfo;
struct OrtMemoryDevice;
struct OrtAllocator;
struct OrtDataTransferImpl;
struct OrtSyncStreamImpl;

struct OrtApiBase {
  const void* const* (*get_api)(uint32_t version);  // null for a version that the library does not have
  const char* (*get_version_string)();
};

struct OrtNodeFusionOptions {
  uint32_t version;
  bool drop_constant_initializers;
};

struct OrtNodeComputeInfo {
  uint32_t version;
  OrtStatus* (*create_state)(OrtNodeComputeInfo*, OrtNodeComputeContext*, void**);
  OrtStatus* (*compute)(OrtNodeComputeInfo*, void*, OrtKernelContext*);
  void (*release_state)(OrtNodeComputeInfo*, void*);
};

// Functions that are null are optional.
struct OrtEp {
  uint32_t version;
  const char* (*get_name)(const OrtEp*);
  OrtStatus* (*get_capability)(OrtEp*, const OrtGraph*, OrtEpGraphSupportInfo*);
  OrtStatus* (*compile)(OrtEp*, const OrtGraph**, const OrtNode**, size_t, OrtNodeComputeInfo**, OrtNode**);
  void (*release_node_compute_infos)(OrtEp*, OrtNodeComputeInfo**, size_t);
  void (*optional[8])();
};

struct OrtEpFactory {
  uint32_t version;
  const char* (*get_name)(const OrtEpFactory*);
  const char* (*get_vendor)(const OrtEpFactory*);
  OrtStatus* (*get_supported_devices)(OrtEpFactory*, const OrtHardwareDevice* const*, size_t, OrtEpDevice**, size_t,
                                      size_t*);
  OrtStatus* (*create_ep)(OrtEpFactory*, const OrtHardwareDevice* const*, const OrtKeyValuePairs* const*, size_t,
                          const OrtSessionOptions*, const OrtLogger*, OrtEp**);
  void (*release_ep)(OrtEpFactory*, OrtEp*);
  uint32_t (*get_vendor_id)(const OrtEpFactory*);
  const char* (*get_version)(const OrtEpFactory*);
  void (*validate_compiled_model)();  // optional
  OrtStatus* (*create_allocator)(OrtEpFactory*, const OrtMemoryInfo*, const OrtKeyValuePairs*, OrtAllocator**);
  void (*release_allocator)(OrtEpFactory*, OrtAllocator*);
  OrtStatus* (*create_data_transfer)(OrtEpFactory*, OrtDataTransferImpl**);
  bool (*is_stream_aware)(const OrtEpFactory*);
  OrtStatus* (*create_stream)(OrtEpFactory*, const OrtMemoryDevice*, const OrtKeyValuePairs*, OrtSyncStreamImpl**);
};
}

namespace softnpu::graph::ort {

constexpr uint32_t kApiVersion = 23;  // the first with compiling providers

enum ErrorCode : int { kFail = 1, kInvalidArgument = 2 };
enum Severity : int { kInfo = 1, kWarning = 2 };
enum DeviceType : int { kCpu = 0 };
enum AttributeType : int { kInt = 1, kInts, kFloat, kFloats, kString, kStrings, kGraph, kTensor };
constexpr int kTypeTensor = 1;  // of a value

// A function of a table.
template <size_t kIndex, class Function>
struct Slot {};

inline constexpr Slot<0, OrtStatus*(int, const char*)> create_status;
inline constexpr Slot<2, const char*(const OrtStatus*)> get_error_message;
inline constexpr Slot<51, OrtStatus*(OrtValue*, void**)> get_tensor_mutable_data;
inline constexpr Slot<55, OrtStatus*(const OrtTypeInfo*, const OrtTensorTypeAndShapeInfo**)> cast_to_tensor_info;
inline constexpr Slot<56, OrtStatus*(const OrtTypeInfo*, int*)> get_onnx_type;
inline constexpr Slot<60, OrtStatus*(const OrtTensorTypeAndShapeInfo*, int*)> get_element_type;
inline constexpr Slot<61, OrtStatus*(const OrtTensorTypeAndShapeInfo*, size_t*)> get_dimensions_count;
inline constexpr Slot<62, OrtStatus*(const OrtTensorTypeAndShapeInfo*, int64_t*, size_t)> get_dimensions;
inline constexpr Slot<65, OrtStatus*(const OrtValue*, OrtTensorTypeAndShapeInfo**)> get_type_and_shape;
inline constexpr Slot<90, OrtStatus*(const OrtKernelContext*, size_t, const OrtValue**)> kernel_input;
inline constexpr Slot<91, OrtStatus*(OrtKernelContext*, size_t, const int64_t*, size_t, OrtValue**)> kernel_output;
inline constexpr Slot<93, void(OrtStatus*)> release_status;
inline constexpr Slot<96, void(OrtValue*)> release_value;
inline constexpr Slot<99, void(OrtTensorTypeAndShapeInfo*)> release_type_and_shape;
inline constexpr Slot<247, OrtStatus*(const OrtLogger*, int, const char*, const char*, int, const char*)> log_message;
inline constexpr Slot<272, OrtStatus*(const OrtOpAttr*, int, void*, size_t, size_t*)> read_attribute;
inline constexpr Slot<289, OrtStatus*(const OrtValueInfo*, const char**)> value_name;
inline constexpr Slot<290, OrtStatus*(const OrtValueInfo*, const OrtTypeInfo**)> value_type;
inline constexpr Slot<298, void(const OrtKeyValuePairs*, const char* const**, const char* const**, size_t*)> pairs;
inline constexpr Slot<300, void(OrtKeyValuePairs*)> release_pairs;
inline constexpr Slot<307, int(const OrtHardwareDevice*)> device_type;
inline constexpr Slot<317, const void* const*()> get_ep_api;
inline constexpr Slot<318, OrtStatus*(const OrtValue*, size_t*)> tensor_bytes;
inline constexpr Slot<326, OrtStatus*(const OrtValueInfo*, const OrtValue**)> initializer_value;
inline constexpr Slot<331, OrtStatus*(const OrtValueInfo*, bool*)> is_constant_initializer;
inline constexpr Slot<336, OrtStatus*(const OrtGraph*, size_t*)> operator_set_count;
inline constexpr Slot<337, OrtStatus*(const OrtGraph*, const char**, int64_t*, size_t)> operator_sets;
inline constexpr Slot<340, OrtStatus*(const OrtGraph*, size_t*)> graph_output_count;
inline constexpr Slot<341, OrtStatus*(const OrtGraph*, const OrtValueInfo**, size_t)> graph_outputs;
inline constexpr Slot<344, OrtStatus*(const OrtGraph*, size_t*)> graph_node_count;
inline constexpr Slot<345, OrtStatus*(const OrtGraph*, const OrtNode**, size_t)> graph_nodes;
inline constexpr Slot<346, OrtStatus*(const OrtGraph*, const OrtNode**)> graph_parent;
inline constexpr Slot<349, OrtStatus*(const OrtNode*, const char**)> node_name;
inline constexpr Slot<350, OrtStatus*(const OrtNode*, const char**)> node_type;
inline constexpr Slot<351, OrtStatus*(const OrtNode*, const char**)> node_domain;
inline constexpr Slot<352, OrtStatus*(const OrtNode*, int*)> node_since_version;
inline constexpr Slot<353, OrtStatus*(const OrtNode*, size_t*)> node_input_count;
inline constexpr Slot<354, OrtStatus*(const OrtNode*, const OrtValueInfo**, size_t)> node_inputs;
inline constexpr Slot<355, OrtStatus*(const OrtNode*, size_t*)> node_output_count;
inline constexpr Slot<356, OrtStatus*(const OrtNode*, const OrtValueInfo**, size_t)> node_outputs;
inline constexpr Slot<357, OrtStatus*(const OrtNode*, size_t*)> node_implicit_count;
inline constexpr Slot<358, OrtStatus*(const OrtNode*, const OrtValueInfo**, size_t)> node_implicit_inputs;
inline constexpr Slot<359, OrtStatus*(const OrtNode*, size_t*)> node_attribute_count;
inline constexpr Slot<360, OrtStatus*(const OrtNode*, const OrtOpAttr**, size_t)> node_attributes;
inline constexpr Slot<362, OrtStatus*(const OrtOpAttr*, OrtValue**)> attribute_tensor;
inline constexpr Slot<363, OrtStatus*(const OrtOpAttr*, int*)> attribute_type;
inline constexpr Slot<364, OrtStatus*(const OrtOpAttr*, const char**)> attribute_name;
inline constexpr Slot<365, OrtStatus*(const OrtNode*, size_t*)> node_subgraph_count;
inline constexpr Slot<378, OrtStatus*(const OrtValue*, const void**)> tensor_data;
inline constexpr Slot<379, OrtStatus*(const OrtSessionOptions*, OrtKeyValuePairs**)> session_entries;

// Since 1.24.
inline constexpr Slot<390, bool(const OrtTensorTypeAndShapeInfo*)> has_shape;

// Of the table of functions for providers.
inline constexpr Slot<0, OrtStatus*(OrtEpFactory*, const OrtHardwareDevice*, const OrtKeyValuePairs*,
                                    const OrtKeyValuePairs*, OrtEpDevice**)>
    create_ep_device;
inline constexpr Slot<2, OrtStatus*(OrtEpGraphSupportInfo*, const OrtNode* const*, size_t, const OrtNodeFusionOptions*)>
    add_nodes_to_fuse;

}  // namespace softnpu::graph::ort
