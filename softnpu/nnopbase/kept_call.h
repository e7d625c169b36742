#pragma once
// A call of phase one that can be made again with other addresses: what a repeatable executor keeps.

#include <cstddef>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "aclnn/acl_meta.h"
#include "base/status.h"
#include "nnopbase/arrays.h"
#include "nnopbase/plan.h"
#include "nnopbase/scalar.h"
#include "nnopbase/tensor.h"

namespace softnpu {

// A tensor of the call: the handle by which the caller knows it, and the copy that the call is planned with.
struct KeptTensor {
  const aclTensor* given = nullptr;
  aclTensor* copy = nullptr;
  const aclTensorList* list = nullptr;  // the handle of the list that it is in, if any
  bool is_output = false;               // the operator takes it as not const
};

class KeptCall {
 public:
  KeptCall() = default;
  KeptCall(const KeptCall&) = delete;
  KeptCall& operator=(const KeptCall&) = delete;
  virtual ~KeptCall() = default;

  virtual Status plan(Plan* plan) const = 0;

  std::vector<KeptTensor> tensors;  // in the order of the arguments, without those that are null
};

// Whether the handle may be read; for null true, since a missing argument is the operator's matter.
ACL_FUNC_VISIBILITY bool is_live_or_null(const aclTensor* tensor);
ACL_FUNC_VISIBILITY bool is_live_or_null(const aclScalar* scalar);
ACL_FUNC_VISIBILITY bool is_live_or_null(const aclIntArray* array);
ACL_FUNC_VISIBILITY bool is_live_or_null(const aclFloatArray* array);
ACL_FUNC_VISIBILITY bool is_live_or_null(const aclBoolArray* array);
ACL_FUNC_VISIBILITY bool is_live_or_null(const aclTensorList* list);  // and all that are in it
ACL_FUNC_VISIBILITY bool is_live_or_null(const aclScalarList* list);
template <typename T>
bool is_live_or_null(const T&) {  // a number
  return true;
}

// Objects of a kept call's own; null for null.
ACL_FUNC_VISIBILITY aclTensor* copy_object(const aclTensor* tensor);
ACL_FUNC_VISIBILITY aclScalar* copy_object(const aclScalar* scalar);
ACL_FUNC_VISIBILITY aclIntArray* copy_object(const aclIntArray* array);
ACL_FUNC_VISIBILITY aclFloatArray* copy_object(const aclFloatArray* array);
ACL_FUNC_VISIBILITY aclBoolArray* copy_object(const aclBoolArray* array);
ACL_FUNC_VISIBILITY aclTensorList* copy_object(const aclTensorList* list);
ACL_FUNC_VISIBILITY aclScalarList* copy_object(const aclScalarList* list);

struct ObjectDeleter {
  void operator()(const aclTensor* object) const { (void)aclDestroyTensor(object); }
  void operator()(const aclScalar* object) const { (void)aclDestroyScalar(object); }
  void operator()(const aclIntArray* object) const { (void)aclDestroyIntArray(object); }
  void operator()(const aclFloatArray* object) const { (void)aclDestroyFloatArray(object); }
  void operator()(const aclBoolArray* object) const { (void)aclDestroyBoolArray(object); }
  void operator()(const aclTensorList* object) const { (void)aclDestroyTensorList(object); }
  void operator()(const aclScalarList* object) const { (void)aclDestroyScalarList(object); }
};

// An argument that outlives the call: a number is its own copy.
template <typename T>
class Kept {
 public:
  explicit Kept(const T& value) : value_(value) {
    static_assert(!std::is_pointer_v<T>, "plan_operator() cannot keep a pointer of this type");
  }
  void list_tensors(std::vector<KeptTensor>*) const {}
  const T& get() const { return value_; }

 private:
  T value_;
};

template <typename T>
requires requires(T* object) { copy_object(object); }
class Kept<T*> {
 public:
  explicit Kept(T* object) : given_(object), copy_(copy_object(object)) {}
  T* get() const { return copy_.get(); }

  void list_tensors(std::vector<KeptTensor>* out) const {
    constexpr bool kIsOutput = !std::is_const_v<T>;
    if constexpr (std::is_same_v<std::remove_const_t<T>, aclTensor>) {
      if (copy_ != nullptr) out->push_back({given_, copy_.get(), nullptr, kIsOutput});
    } else if constexpr (std::is_same_v<std::remove_const_t<T>, aclTensorList>) {
      for (size_t i = 0; copy_ != nullptr && i < copy_->size(); ++i) {
        // The copies are this object's own.
        auto* copy = const_cast<aclTensor*>((*copy_)[i]);
        if (copy != nullptr) out->push_back({(*given_)[i], copy, given_, kIsOutput});
      }
    }
  }

 private:
  T* given_;  // read while the call is kept, compared afterwards
  std::unique_ptr<std::remove_const_t<T>, ObjectDeleter> copy_;
};

template <typename Char>
requires std::is_same_v < std::remove_const_t<Char>,
char > class Kept<Char*> {
 public:
  explicit Kept(Char* string) : is_null_(string == nullptr), value_(is_null_ ? "" : string) {}
  void list_tensors(std::vector<KeptTensor>*) const {}
  Char* get() const { return is_null_ ? nullptr : const_cast<Char*>(value_.c_str()); }

 private:
  bool is_null_;
  std::string value_;
};

// The call of a Planner, which has no state, with these arguments.
template <typename Planner, typename... Args>
class KeptCallOf : public KeptCall {
 public:
  explicit KeptCallOf(const std::tuple<Args...>& args)
      : args_(std::apply([](const Args&... arg) { return Arguments(Kept<Args>(arg)...); }, args)) {
    std::apply([this](const Kept<Args>&... arg) { (arg.list_tensors(&tensors), ...); }, args_);
  }

  Status plan(Plan* plan) const override {
    return std::apply([plan](const Kept<Args>&... arg) { return Planner()(arg.get()..., plan); }, args_);
  }

 private:
  using Arguments = std::tuple<Kept<Args>...>;
  Arguments args_;
};

}  // namespace softnpu
