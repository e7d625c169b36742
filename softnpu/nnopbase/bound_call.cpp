#include "nnopbase/bound_call.h"

#include "nnopbase/objects.h"

namespace softnpu {
namespace {

template <typename List>
bool is_live_list(const List* list) {
  const auto& elements = pool_of<typename ElementOf<List>::Type>();
  if (!pool_of<List>().is_live(list)) return false;
  for (size_t i = 0; i < list->size(); ++i) {
    if ((*list)[i] != nullptr && !elements.is_live_as((*list)[i], list->names[i])) return false;
  }
  return true;
}

}  // namespace

void BoundCall::set_tensors(std::vector<BoundTensor> tensors) {
  tensors_ = std::move(tensors);
  for (const BoundTensor& tensor : tensors_) addresses_.push_back(tensor.copy->data);
}

void BoundCall::move(std::span<void* const> operands) const {
  for (size_t i = 0; i < tensors_.size(); ++i) tensors_[i].copy->data = operands[i];
}

bool is_live_object(const aclTensor* tensor) { return pool_of<aclTensor>().is_live(tensor); }
bool is_live_object(const aclScalar* scalar) { return pool_of<aclScalar>().is_live(scalar); }
bool is_live_object(const aclIntArray* array) { return pool_of<aclIntArray>().is_live(array); }
bool is_live_object(const aclFloatArray* array) { return pool_of<aclFloatArray>().is_live(array); }
bool is_live_object(const aclBoolArray* array) { return pool_of<aclBoolArray>().is_live(array); }
bool is_live_object(const aclTensorList* list) { return is_live_list(list); }
bool is_live_object(const aclScalarList* list) { return is_live_list(list); }

}  // namespace softnpu
