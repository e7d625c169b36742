#pragma once
// One operand's way from its memory to the values that a kernel computes with, and back.

#include "ops/convert/rows.h"

namespace softnpu {

// Whether memory with elements of `from` holds the values that a kernel of `as` computes with.
bool is_direct(aclDataType from, aclDataType as);

// Reads elements of one dtype as values of another, in the latter's compute type, with the rounding of a cast in
// between.
class ElementReader {
 public:
  ElementReader() = default;
  ElementReader(aclDataType from, aclDataType as);

  // Whether contiguous memory may be used in place.
  bool is_direct() const { return direct_; }
  void read(const void* from, ptrdiff_t stride, size_t count, void* values) const;

 private:
  LoadRow load_ = nullptr;
  ConvertComputed cast_ = nullptr;  // null: both dtypes are the same
  StoreRow round_ = nullptr;        // null: every value of the compute type is one of the dtype
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
