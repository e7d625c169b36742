#include "nnopbase/kept_call.h"

#include "nnopbase/objects.h"

namespace softnpu {
namespace {

template <typename T>
bool live_or_null(const T* object) {
  return object == nullptr || pool_of<T>().is_live(object);
}

template <typename List>
bool live_list_or_null(const List* list) {
  if (!live_or_null(list)) return false;
  for (size_t i = 0; list != nullptr && i < list->size(); ++i) {
    if (!live_or_null((*list)[i])) return false;
  }
  return true;
}

template <typename T>
T* copied(const T* object) {
  return object == nullptr ? nullptr : pool_of<T>().make(*object);
}

// Where host memory is out part way, what was copied is destroyed with the list.
template <typename List>
List* copied_list(const List* list) {
  if (list == nullptr) return nullptr;
  std::unique_ptr<List, ObjectDeleter> made(pool_of<List>().make());
  made->values.resize(list->size(), nullptr);
  for (size_t i = 0; i < list->size(); ++i) made->values[i] = copied((*list)[i]);
  return made.release();
}

}  // namespace

bool is_live_or_null(const aclTensor* tensor) { return live_or_null(tensor); }
bool is_live_or_null(const aclScalar* scalar) { return live_or_null(scalar); }
bool is_live_or_null(const aclIntArray* array) { return live_or_null(array); }
bool is_live_or_null(const aclFloatArray* array) { return live_or_null(array); }
bool is_live_or_null(const aclBoolArray* array) { return live_or_null(array); }
bool is_live_or_null(const aclTensorList* list) { return live_list_or_null(list); }
bool is_live_or_null(const aclScalarList* list) { return live_list_or_null(list); }

aclTensor* copy_object(const aclTensor* tensor) { return copied(tensor); }
aclScalar* copy_object(const aclScalar* scalar) { return copied(scalar); }
aclIntArray* copy_object(const aclIntArray* array) { return copied(array); }
aclFloatArray* copy_object(const aclFloatArray* array) { return copied(array); }
aclBoolArray* copy_object(const aclBoolArray* array) { return copied(array); }
aclTensorList* copy_object(const aclTensorList* list) { return copied_list(list); }
aclScalarList* copy_object(const aclScalarList* list) { return copied_list(list); }

}  // namespace softnpu
