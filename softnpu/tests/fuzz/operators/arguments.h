#pragma once
// Random arguments of one call: descriptors of every kind, over device memory of exactly their size.

#include <string>
#include <vector>

#include "fuzz/operators/callers.h"
#include "fuzz/operators/families.h"
#include "fuzz/operators/shapes.h"

namespace fuzz {

class Arguments {
 public:
  // Draws the arguments of `caller`.
  Arguments(const Caller& caller, Numbers* numbers);
  Arguments(const Arguments&) = delete;
  Arguments& operator=(const Arguments&) = delete;
  // Destroys descriptors and frees memory; nothing that uses it may be running.
  ~Arguments();

  const Value* values() const { return values_.data(); }
  // Destroys one descriptor of the call, which stays among its values; false if there is none.
  bool destroy_one();
  // Whether a tensor has more elements than an operator can process in a test's time.
  bool is_huge() const { return is_huge_; }
  // Whether a written tensor has overlapping elements.
  bool overlaps() const { return overlaps_; }
  // "self float32[2, 3], dim -1", for the message of a failure.
  const std::string& message() const { return message_; }

 private:
  struct Object {
    Kind kind;
    void* handle;
  };

  Value draw(const Argument& argument);
  void* make(const Argument& argument);
  void* make_tensor(const Argument& argument);
  void* make_scalar();
  void* make_int_array(const Argument& argument);
  void* make_list(const Argument& argument);
  // Exactly `bytes` of memory, filled with numbers of `dtype`; integers are small.
  void* make_memory(size_t bytes, aclDataType dtype);
  static void destroy(const Object& object);

  // Makes sizes huge with strides of 0, as drawn for the call; usually not those of results.
  void expand(const Argument& argument, std::vector<int64_t>* sizes, std::vector<int64_t>* strides);
  // A number for an attribute: sometimes an extreme one, or a huge one if the number is a size.
  int64_t attribute(int64_t drafted);

  // The draft's value for the argument, unless it is drawn this time.
  template <typename T>
  const T* drafted(const std::map<std::string, T>& values, const Argument& argument) {
    const auto found = values.find(argument.name);
    return found == values.end() || numbers_.once_in(64) ? nullptr : &found->second;
  }

  Numbers& numbers_;
  Draft draft_;
  std::vector<int64_t> sizes_;  // of most tensors of the call
  aclDataType dtype_;           // of most tensors of the call
  int64_t small_ = 0;           // the size to be replaced by `huge_` in this call; 0: none
  int64_t huge_ = 0;
  bool is_huge_ = false;
  bool overlaps_ = false;
  bool in_blocks_;  // most four-dimensional tensors are in NC1HWC0
  std::vector<Value> values_;
  std::vector<Object> objects_;
  std::vector<void*> memory_;
  std::string message_;
};

}  // namespace fuzz
