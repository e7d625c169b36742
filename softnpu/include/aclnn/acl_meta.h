#pragma once
// The objects that aclnn operators take. They describe; the data stays the caller's.
// Facts: call sites in Ascend/pytorch and Ascend/op-plugin (BSD-3-Clause), ggml (MIT). See PROVENANCE.md.
//
// A function that makes an object returns null where an argument makes no sense; aclGetRecentErrMsg says why. An object
// that is null is ACLNN_ERR_PARAM_NULLPTR, but for destroying, which takes it. One that was destroyed is
// ACLNN_ERR_PARAM_INVALID, until a new object of the kind has got its address. Any thread may use any object, and two
// threads one object as long as both read it.

#include "aclnn/aclnn_base.h"

#ifdef __cplusplus
extern "C" {
#endif

// A view of `viewDimsNum` dimensions, at most 64: strides and offset in elements; stride null means contiguous. The
// storage's dimensions describe the whole allocation in `format`.
ACL_FUNC_VISIBILITY aclTensor* aclCreateTensor(const int64_t* viewDims, uint64_t viewDimsNum, aclDataType dataType,
                                               const int64_t* stride, int64_t offset, aclFormat format,
                                               const int64_t* storageDims, uint64_t storageDimsNum, void* tensorData);
ACL_FUNC_VISIBILITY aclnnStatus aclDestroyTensor(const aclTensor* tensor);

// The array is a new one of *viewDimsNum numbers, which the caller frees with delete[]. Of an output whose size an
// operator decides as it runs (nonzero, unique, masked_select) the shape is that size once the stream was synchronised.
ACL_FUNC_VISIBILITY aclnnStatus aclGetViewShape(const aclTensor* tensor, int64_t** viewDims, uint64_t* viewDimsNum);

// The same of the dimensions of its storage, and of the strides in elements.
ACL_FUNC_VISIBILITY aclnnStatus aclGetStorageShape(const aclTensor* tensor, int64_t** storageDims,
                                                   uint64_t* storageDimsNum);
ACL_FUNC_VISIBILITY aclnnStatus aclGetViewStrides(const aclTensor* tensor, int64_t** stridesValue,
                                                  uint64_t* stridesNum);
// In elements from the start of the storage.
ACL_FUNC_VISIBILITY aclnnStatus aclGetViewOffset(const aclTensor* tensor, int64_t* offset);
ACL_FUNC_VISIBILITY aclnnStatus aclGetFormat(const aclTensor* tensor, aclFormat* format);
ACL_FUNC_VISIBILITY aclnnStatus aclGetDataType(const aclTensor* tensor, aclDataType* dataType);

// Describes a live tensor anew; the arguments are those of aclCreateTensor. If it fails the tensor is unchanged.
ACL_FUNC_VISIBILITY aclnnStatus aclInitTensor(aclTensor* tensor, const int64_t* viewDims, uint64_t viewDimsNum,
                                              aclDataType dataType, const int64_t* stride, int64_t offset,
                                              aclFormat format, const int64_t* storageDims, uint64_t storageDimsNum,
                                              void* tensorDataAddr);
// The storage's first byte is at `tensorDataAddr` in the calls of phase one from here on.
ACL_FUNC_VISIBILITY aclnnStatus aclUpdateTensorAddr(aclTensor* tensor, void* tensorDataAddr);

// A copy of the number of type `dataType` at `value`: an integer, bool, floating-point or complex type.
ACL_FUNC_VISIBILITY aclScalar* aclCreateScalar(void* value, aclDataType dataType);
ACL_FUNC_VISIBILITY aclnnStatus aclDestroyScalar(const aclScalar* scalar);

// Copies of `size` numbers; `value` may be null where there are none.
ACL_FUNC_VISIBILITY aclIntArray* aclCreateIntArray(const int64_t* value, uint64_t size);
ACL_FUNC_VISIBILITY aclnnStatus aclDestroyIntArray(const aclIntArray* array);
ACL_FUNC_VISIBILITY aclFloatArray* aclCreateFloatArray(const float* value, uint64_t size);
ACL_FUNC_VISIBILITY aclnnStatus aclDestroyFloatArray(const aclFloatArray* array);
ACL_FUNC_VISIBILITY aclBoolArray* aclCreateBoolArray(const bool* value, uint64_t size);
ACL_FUNC_VISIBILITY aclnnStatus aclDestroyBoolArray(const aclBoolArray* array);
ACL_FUNC_VISIBILITY aclnnStatus aclGetIntArraySize(const aclIntArray* array, uint64_t* size);
ACL_FUNC_VISIBILITY aclnnStatus aclGetFloatArraySize(const aclFloatArray* array, uint64_t* size);
ACL_FUNC_VISIBILITY aclnnStatus aclGetBoolArraySize(const aclBoolArray* array, uint64_t* size);

// A list takes its elements over: destroying the list destroys them (the callers above destroy the list and never the
// elements). An element may be null. One that was destroyed before its list is passed over.
ACL_FUNC_VISIBILITY aclTensorList* aclCreateTensorList(const aclTensor* const* value, uint64_t size);
ACL_FUNC_VISIBILITY aclnnStatus aclDestroyTensorList(const aclTensorList* array);
ACL_FUNC_VISIBILITY aclScalarList* aclCreateScalarList(const aclScalar* const* value, uint64_t size);
ACL_FUNC_VISIBILITY aclnnStatus aclDestroyScalarList(const aclScalarList* array);
ACL_FUNC_VISIBILITY aclnnStatus aclGetTensorListSize(const aclTensorList* tensorList, uint64_t* size);
ACL_FUNC_VISIBILITY aclnnStatus aclGetScalarListSize(const aclScalarList* scalarList, uint64_t* size);

// Phase one plans tensors that have no address yet (null): frameworks learn the size of the workspace before they have
// memory. Its executor is launched after aclSetTensorAddr has set the address of each of them, or is destroyed.

// A repeatable executor may be launched any number of times and is then destroyed by aclDestroyAclOpExecutor. It is
// made so while the arguments of its first phase live: it keeps copies of them. Only an executor that is never
// launched, or is repeatable, needs to be destroyed; null is taken.
ACL_FUNC_VISIBILITY aclnnStatus aclSetAclOpExecutorRepeatable(aclOpExecutor* executor);
ACL_FUNC_VISIBILITY aclnnStatus aclDestroyAclOpExecutor(aclOpExecutor* executor);

// From the next launch on, the repeatable executor's argument `tensor` has its data at `addr`, in the place of what it
// was made with; the tensor's offset counts from there. `tensor` is the one that phase one was called with; where it
// was given for several arguments `index` says which, counted among all tensors of the call.
// A launch that was made before keeps its address.
ACL_FUNC_VISIBILITY aclnnStatus aclSetTensorAddr(aclOpExecutor* executor, size_t index, aclTensor* tensor, void* addr);
// The same for the tensor number `elementIndex` of an argument that is a list; `listIndex` is that argument's number,
// which the list itself tells.
ACL_FUNC_VISIBILITY aclnnStatus aclSetDynamicTensorAddr(aclOpExecutor* executor, size_t listIndex, size_t elementIndex,
                                                        aclTensorList* tensors, void* addr);

#ifdef __cplusplus
}
#endif
