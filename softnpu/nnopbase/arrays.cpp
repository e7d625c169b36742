#include "nnopbase/arrays.h"

#include <utility>

#include "aclnn/acl_meta.h"
#include "base/border.h"
#include "base/text.h"
#include "nnopbase/objects.h"

using softnpu::api;
using softnpu::check_object;
using softnpu::not_null;
using softnpu::pool_of;
using softnpu::Status;
using softnpu::text;

namespace {

// The limit for arrays of arguments: a larger size is a caller's error, such as a negative number.
constexpr uint64_t kMaxValues = uint64_t{1} << 31;

template <typename T>
Status check_values(const T* values, uint64_t size) {
  if (size > kMaxValues) {
    return {ACLNN_ERR_PARAM_INVALID, text("a size of ", size, "; at most ", kMaxValues, " values are taken")};
  }
  return size == 0 ? Status::ok() : not_null(values, "value");
}

template <typename Object, typename T>
Object* create(const char* function, const T* values, uint64_t size) {
  Object* result = nullptr;
  (void)api(function, [&] {
    SOFTNPU_RETURN_IF_ERROR(check_values(values, size));
    Object object;
    object.values.assign(values, values + size);
    result = pool_of<Object>().make(std::move(object));
    return Status::ok();
  });
  return result;
}

template <typename Object>
aclnnStatus destroy(const char* function, const Object* object, const char* kind) {
  return api(function, [&] { return destroy_object(pool_of<Object>(), object, kind); });
}

// Takes ownership of the elements; on failure they stay with the caller.
template <typename List, typename T>
List* create_list(const char* function, const T* const* values, uint64_t size, const char* kind) {
  List* result = nullptr;
  (void)api(function, [&] {
    SOFTNPU_RETURN_IF_ERROR(check_values(values, size));
    List list;
    list.values.assign(values, values + size);
    list.names.resize(size, 0);
    for (uint64_t i = 0; i < size; ++i) {
      if (values[i] == nullptr) continue;
      SOFTNPU_RETURN_IF_ERROR(check_object(pool_of<T>(), values[i], kind));
      list.names[i] = pool_of<T>().name(values[i]);
    }
    result = pool_of<List>().make(std::move(list));
    return Status::ok();
  });
  return result;
}

// Skips elements that were destroyed separately, or that the list contains twice.
template <typename T, typename List>
aclnnStatus destroy_list(const char* function, const List* list, const char* kind) {
  return api(function, [&] {
    if (list == nullptr) return Status::ok();
    SOFTNPU_RETURN_IF_ERROR(check_object(pool_of<List>(), list, kind));
    for (uint64_t name : list->names) {
      if (T* element = pool_of<T>().claim(name); element != nullptr) pool_of<T>().recycle(element);
    }
    return destroy_object(pool_of<List>(), list, kind);
  });
}

template <typename Object>
aclnnStatus get_size(const char* function, const Object* object, const char* kind, uint64_t* size) {
  return api(function, [&] {
    SOFTNPU_RETURN_IF_ERROR(check_object(pool_of<Object>(), object, kind));
    SOFTNPU_RETURN_IF_ERROR(not_null(size, "size"));
    *size = object->size();
    return Status::ok();
  });
}

}  // namespace

aclIntArray* aclCreateIntArray(const int64_t* value, uint64_t size) {
  return create<aclIntArray>("aclCreateIntArray", value, size);
}
aclnnStatus aclDestroyIntArray(const aclIntArray* array) { return destroy("aclDestroyIntArray", array, "aclIntArray"); }
aclFloatArray* aclCreateFloatArray(const float* value, uint64_t size) {
  return create<aclFloatArray>("aclCreateFloatArray", value, size);
}
aclnnStatus aclDestroyFloatArray(const aclFloatArray* array) {
  return destroy("aclDestroyFloatArray", array, "aclFloatArray");
}
aclBoolArray* aclCreateBoolArray(const bool* value, uint64_t size) {
  return create<aclBoolArray>("aclCreateBoolArray", value, size);
}
aclnnStatus aclDestroyBoolArray(const aclBoolArray* array) {
  return destroy("aclDestroyBoolArray", array, "aclBoolArray");
}
aclTensorList* aclCreateTensorList(const aclTensor* const* value, uint64_t size) {
  return create_list<aclTensorList>("aclCreateTensorList", value, size, "aclTensor");
}
aclnnStatus aclDestroyTensorList(const aclTensorList* array) {
  return destroy_list<aclTensor>("aclDestroyTensorList", array, "aclTensorList");
}
aclScalarList* aclCreateScalarList(const aclScalar* const* value, uint64_t size) {
  return create_list<aclScalarList>("aclCreateScalarList", value, size, "aclScalar");
}
aclnnStatus aclDestroyScalarList(const aclScalarList* array) {
  return destroy_list<aclScalar>("aclDestroyScalarList", array, "aclScalarList");
}

aclnnStatus aclGetIntArraySize(const aclIntArray* array, uint64_t* size) {
  return get_size("aclGetIntArraySize", array, "aclIntArray", size);
}
aclnnStatus aclGetFloatArraySize(const aclFloatArray* array, uint64_t* size) {
  return get_size("aclGetFloatArraySize", array, "aclFloatArray", size);
}
aclnnStatus aclGetBoolArraySize(const aclBoolArray* array, uint64_t* size) {
  return get_size("aclGetBoolArraySize", array, "aclBoolArray", size);
}
aclnnStatus aclGetTensorListSize(const aclTensorList* tensorList, uint64_t* size) {
  return get_size("aclGetTensorListSize", tensorList, "aclTensorList", size);
}
aclnnStatus aclGetScalarListSize(const aclScalarList* scalarList, uint64_t* size) {
  return get_size("aclGetScalarListSize", scalarList, "aclScalarList", size);
}
