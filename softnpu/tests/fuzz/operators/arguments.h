#pragma once
// The arguments of one call, drawn: descriptors of every kind, over device memory that ends where they do.

#include <string>
#include <vector>

#include "fuzz/operators/callers.h"
#include "fuzz/operators/families.h"
#include "fuzz/operators/shapes.h"

namespace fuzz {

class Arguments {
 public:
  // Draws what `caller` takes.
  Arguments(const Caller& caller, Numbers* numbers);
  Arguments(const Arguments&) = delete;
  Arguments& operator=(const Arguments&) = delete;
  // Destroys descriptors and frees memory; nothing that uses it is under way.
  ~Arguments();

  const Value* values() const { return values_.data(); }
  // Ends one descriptor of the call, which stays among its values; false where there is none.
  bool destroy_one();
  // Whether a tensor has more elements than an operator goes over in a test's time.
  bool is_huge() const { return is_huge_; }
  // Whether a tensor that is written has elements that share a place.
  bool overlaps() const { return overlaps_; }
  // "self float32[2, 3], dim -1", for the message of a failure.
  const std::string& said() const { return said_; }

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
  // Memory of exactly `bytes`, filled with numbers of `dtype` that are small where they are integers.
  void* make_memory(size_t bytes, aclDataType dtype);
  static void destroy(const Object& object);

  // Makes sizes huge, as the call has it, with strides of 0; sizes that a result has stay mostly.
  void expand(const Argument& argument, std::vector<int64_t>* sizes, std::vector<int64_t>* strides);
  // One number of an attribute: one from the edges now and then, a huge one where a size becomes it.
  int64_t attribute(int64_t drafted);

  // What the draft says of the argument, unless it is left to chance this time.
  template <typename T>
  const T* drafted(const std::map<std::string, T>& values, const Argument& argument) {
    const auto found = values.find(argument.name);
    return found == values.end() || numbers_.once_in(64) ? nullptr : &found->second;
  }

  Numbers& numbers_;
  Draft draft_;
  std::vector<int64_t> sizes_;  // that most tensors of the call have
  aclDataType dtype_;           // that most tensors of the call have
  int64_t small_ = 0;           // the size that becomes `huge_` in this call; 0: none
  int64_t huge_ = 0;
  bool is_huge_ = false;
  bool overlaps_ = false;
  bool in_blocks_;  // most tensors of four dimensions are in NC1HWC0
  std::vector<Value> values_;
  std::vector<Object> objects_;
  std::vector<void*> memory_;
  std::string said_;
};

}  // namespace fuzz
