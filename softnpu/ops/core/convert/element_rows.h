#pragma once
// Converts an operand's elements between memory and a kernel's compute type.

#include "ops/core/convert/rows.h"

namespace softnpu {

// Whether elements of `from` in memory are the values that a kernel of `as` computes with.
bool is_direct(aclDataType from, aclDataType as);

// Reads elements of one dtype as values of another, in the latter's compute type. The value is rounded as by a cast.
class ElementReader {
 public:
  ElementReader() = default;
  ElementReader(aclDataType from, aclDataType as);

  // Whether contiguous memory may be used in place.
  bool is_direct() const { return direct_; }
  void read(const void* from, ptrdiff_t stride, size_t count, void* values) const;

 private:
  LoadRow load_ = nullptr;
  ConvertComputed cast_ = nullptr;  // null: the dtypes are equal
  StoreRow round_ = nullptr;        // null: the dtype represents every value of the compute type
  LoadRow reload_ = nullptr;
  ptrdiff_t element_ = 0;     // bytes of `as` in memory
  size_t compute_bytes_ = 0;  // and in its compute type
  bool direct_ = false;
};

// Writes values computed as one dtype to elements of another.
class ElementWriter {
 public:
  ElementWriter() = default;
  ElementWriter(aclDataType as, aclDataType to);

  bool is_direct() const { return direct_; }
  void write(const void* values, size_t count, void* to, ptrdiff_t stride) const;

 private:
  StoreRow round_ = nullptr;
  LoadRow reload_ = nullptr;
  ConvertComputed cast_ = nullptr;
  StoreRow store_ = nullptr;
  ptrdiff_t element_ = 0;     // bytes of `as` in memory
  size_t compute_bytes_ = 0;  // and in its compute type
  bool direct_ = false;
};

// Converts elements in memory to elements of another dtype in memory, with no pass that the dtypes do not need.
class ElementCast {
 public:
  ElementCast() = default;
  ElementCast(aclDataType from, aclDataType to);

  // Strides in bytes. The memory must not overlap.
  void run(const char* from, ptrdiff_t from_stride, size_t count, char* to, ptrdiff_t to_stride) const;

 private:
  LoadRow load_ = nullptr;
  ConvertComputed cast_ = nullptr;  // null: both dtypes have one compute type
  StoreRow store_ = nullptr;
  ptrdiff_t from_bytes_ = 0;
  ptrdiff_t to_bytes_ = 0;
  bool from_is_computed_ = false;  // memory has the compute type
  bool to_is_computed_ = false;
};

}  // namespace softnpu
