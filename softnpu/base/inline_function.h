#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace softnpu {

// A move-only callable, like std::move_only_function: callables of up to Capacity bytes are stored inline, larger ones
// on the heap. A callable may modify its by-value captures only if its operator() is const.
template <typename Signature, size_t Capacity>
class InlineFunction;

template <typename Result, typename... Args, size_t Capacity>
class InlineFunction<Result(Args...), Capacity> {
 public:
  static constexpr size_t kCapacity = Capacity;

  InlineFunction() noexcept = default;
  InlineFunction(std::nullptr_t) noexcept {}
  template <typename Callable, typename = std::enable_if_t<!std::is_same_v<std::decay_t<Callable>, InlineFunction> &&
                                                           std::is_invocable_r_v<Result, Callable&, Args...>>>
  InlineFunction(Callable&& callable) {
    using Type = std::decay_t<Callable>;
    if constexpr (kFits<Type>) {
      ::new (static_cast<void*>(space_)) Type(std::forward<Callable>(callable));
      actions_ = &kInline<Type>;
    } else {
      using Box = std::unique_ptr<Type>;
      ::new (static_cast<void*>(space_)) Box(std::make_unique<Type>(std::forward<Callable>(callable)));
      actions_ = &kBoxed<Type>;
    }
  }
  InlineFunction(InlineFunction&& other) noexcept { take(other); }
  InlineFunction& operator=(InlineFunction&& other) noexcept {
    if (this != &other) {
      reset();
      take(other);
    }
    return *this;
  }
  InlineFunction(const InlineFunction&) = delete;
  InlineFunction& operator=(const InlineFunction&) = delete;
  ~InlineFunction() { reset(); }

  explicit operator bool() const { return actions_ != nullptr; }
  friend bool operator==(const InlineFunction& function, std::nullptr_t) { return !function; }
  Result operator()(Args... args) const { return actions_->call(space_, std::forward<Args>(args)...); }

  // The callable stored inline; null if it is of another type, or on the heap.
  template <typename Callable>
  const Callable* target() const {
    if constexpr (!kFits<Callable>) return nullptr;
    return actions_ == &kInline<Callable> ? at<Callable>(space_) : nullptr;
  }

  // Whether such a callable is stored inline.
  template <typename Callable>
  static constexpr bool holds_inline() {
    return kFits<std::decay_t<Callable>>;
  }

 private:
  struct Actions {
    Result (*call)(void* space, Args&&... args);
    void (*move)(void* to, void* from) noexcept;  // and destroys the source
    void (*destroy)(void* space) noexcept;
  };

  template <typename Type>
  static constexpr bool kFits =
      sizeof(Type) <= Capacity &&
      alignof(Type) <= alignof(std::max_align_t) && std::is_nothrow_move_constructible_v<Type>;

  template <typename Type>
  static Type* at(void* space) {
    return std::launder(reinterpret_cast<Type*>(space));
  }

  template <typename Type>
  static void move(void* to, void* from) noexcept {
    ::new (to) Type(std::move(*at<Type>(from)));
    at<Type>(from)->~Type();
  }

  template <typename Type>
  static constexpr Actions kInline = {
      [](void* space, Args&&... args) -> Result { return (*at<Type>(space))(std::forward<Args>(args)...); },
      &move<Type>, [](void* space) noexcept { at<Type>(space)->~Type(); }};

  template <typename Type>
  static constexpr Actions kBoxed = {[](void* space, Args&&... args) -> Result {
                                       return (**at<std::unique_ptr<Type>>(space))(std::forward<Args>(args)...);
                                     },
                                     &move<std::unique_ptr<Type>>,
                                     [](void* space) noexcept { std::destroy_at(at<std::unique_ptr<Type>>(space)); }};

  void take(InlineFunction& other) noexcept {
    actions_ = std::exchange(other.actions_, nullptr);
    if (actions_ != nullptr) actions_->move(space_, other.space_);
  }

  void reset() noexcept {
    if (actions_ != nullptr) std::exchange(actions_, nullptr)->destroy(space_);
  }

  static_assert(Capacity >= sizeof(void*));
  const Actions* actions_ = nullptr;
  alignas(std::max_align_t) mutable unsigned char space_[Capacity];
};

}  // namespace softnpu
