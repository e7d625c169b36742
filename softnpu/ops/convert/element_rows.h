#pragma once
// Converts an operand's elements between memory and a kernel's compute type.

#include "ops/convert/rows.h"

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

}  // namespace softnpu
