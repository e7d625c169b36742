#pragma once
// A call of phase one that can be planned again with other addresses; part of a repeatable executor.

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "aclnn/aclnn_base.h"
#include "base/status.h"
#include "nnopbase/arrays.h"
#include "nnopbase/plan.h"
#include "nnopbase/rebindable.h"
#include "nnopbase/scalar.h"
#include "nnopbase/tensor.h"
#include "nnopbase/written.h"

namespace softnpu {

// A tensor of the call: the caller's handle, and the copy that the planner gets.
struct BoundTensor {
  const aclTensor* given = nullptr;
  aclTensor* copy = nullptr;
  const aclTensorList* list = nullptr;  // the handle of its list, if it is in one
};

// Its operands are the addresses of `tensors`. rebind() must not be called by two threads at once.
class BoundCall : public Rebindable {
 public:
  std::span<void* const> operands() const { return addresses_; }
  std::span<const BoundTensor> tensors() const { return tensors_; }

 protected:
  ACL_FUNC_VISIBILITY void set_tensors(std::vector<BoundTensor> tensors);
  // Sets the addresses of the copies.
  ACL_FUNC_VISIBILITY void move(std::span<void* const> operands) const;

 private:
  std::vector<BoundTensor> tensors_;  // in argument order, without null ones
  std::vector<void*> addresses_;
};

// Whether the handle is live.
ACL_FUNC_VISIBILITY bool is_live_object(const aclTensor* tensor);
ACL_FUNC_VISIBILITY bool is_live_object(const aclScalar* scalar);
ACL_FUNC_VISIBILITY bool is_live_object(const aclIntArray* array);
ACL_FUNC_VISIBILITY bool is_live_object(const aclFloatArray* array);
ACL_FUNC_VISIBILITY bool is_live_object(const aclBoolArray* array);
ACL_FUNC_VISIBILITY bool is_live_object(const aclTensorList* list);  // and all of its elements
ACL_FUNC_VISIBILITY bool is_live_object(const aclScalarList* list);

// The element type of a list; std::monostate for other types.
template <typename T>
struct ElementOf {
  using Type = std::monostate;
};
template <>
struct ElementOf<aclTensorList> {
  using Type = aclTensor;
};
template <>
struct ElementOf<aclScalarList> {
  using Type = aclScalar;
};

template <typename T>
constexpr bool kIsList = !std::is_same_v<typename ElementOf<T>::Type, std::monostate>;
template <typename T, typename... Types>
constexpr bool kIsOneOf = (std::is_same_v<T, Types> || ...);
template <typename T>
constexpr bool kIsObject = kIsList<T> || kIsOneOf<T, aclTensor, aclScalar, aclIntArray, aclFloatArray, aclBoolArray>;

template <typename T>
concept Object = kIsObject<std::remove_const_t<T>>;
template <typename T>
concept Character = std::is_same_v < std::remove_const_t<T>,
char > ;

// True for numbers and for null: the operator itself checks for missing arguments.
template <typename T>
bool is_live_or_null(const T&) {
  return true;
}
template <Object T>
bool is_live_or_null(T* const& object) {
  return object == nullptr || is_live_object(object);
}

// An argument that outlives the call: numbers are copied.
template <typename T>
class Bound {
 public:
  explicit Bound(const T& value) : value_(value) {
    static_assert(!std::is_pointer_v<T>, "plan_operator() cannot keep a pointer of this type");
  }
  void list_tensors(std::vector<BoundTensor>*) const {}
  const T& get() const { return value_; }

 private:
  T value_;
};

// The copies are no handles: a caller's double free cannot destroy them.
template <Object T>
class Bound<T*> {
  using Copy = std::remove_const_t<T>;
  using Element = typename ElementOf<Copy>::Type;

 public:
  explicit Bound(T* object) : given_(object), copy_(object == nullptr ? nullptr : std::make_unique<Copy>(*object)) {
    if constexpr (kIsList<Copy>) {
      if (copy_ != nullptr) copy_elements();
    }
  }
  T* get() const { return copy_.get(); }

  void list_tensors(std::vector<BoundTensor>* out) const {
    if (copy_ == nullptr) return;
    if constexpr (std::is_same_v<Copy, aclTensor>) {
      out->push_back({given_, copy_.get(), nullptr});
    } else if constexpr (std::is_same_v<Copy, aclTensorList>) {
      for (const auto& [given, copy] : elements_) {
        if (copy != nullptr) out->push_back({given, copy.get(), given_});
      }
    }
  }

 private:
  void copy_elements() {
    for (const Element*& element : copy_->values) {
      const Element* given = element;
      elements_.emplace_back(given, given == nullptr ? nullptr : std::make_unique<Element>(*given));
      element = elements_.back().second.get();
    }
  }

  T* given_;  // compared, never dereferenced
  std::unique_ptr<Copy> copy_;
  std::vector<std::pair<const Element*, std::unique_ptr<Element>>> elements_;  // of a list: given, copy
};

template <Character Char>
class Bound<Char*> {
 public:
  explicit Bound(Char* string) : is_null_(string == nullptr), value_(is_null_ ? "" : string) {}
  void list_tensors(std::vector<BoundTensor>*) const {}
  Char* get() const { return is_null_ ? nullptr : const_cast<Char*>(value_.c_str()); }

 private:
  bool is_null_;
  std::string value_;
};

// The type of a planner for these arguments.
template <typename... Args>
using Planner = Status (*)(Args..., Plan*);

// A planner with its bound arguments.
template <typename... Args>
class BoundCallOf : public BoundCall {
 public:
  BoundCallOf(Planner<Args...> planner, const std::tuple<Args...>& args)
      : planner_(planner), args_(std::apply([](const Args&... arg) { return Arguments(Bound<Args>(arg)...); }, args)) {
    std::vector<BoundTensor> tensors;
    std::apply([&](const Bound<Args>&... arg) { (arg.list_tensors(&tensors), ...); }, args_);
    set_tensors(std::move(tensors));
  }

  Status rebind(std::span<void* const> operands, Plan* plan) const override {
    move(operands);
    return std::apply(
        [this, plan](const Bound<Args>&... arg) {
          Status status = planner_(arg.get()..., plan);
          (add_if_written(arg.get(), plan), ...);
          return status;
        },
        args_);
  }

 private:
  using Arguments = std::tuple<Bound<Args>...>;
  Planner<Args...> planner_;
  Arguments args_;
};

}  // namespace softnpu
