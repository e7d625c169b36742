#pragma once
// The host's side of a tiling structure: a class with set_ and get_ functions whose bytes the kernel's GET_TILING_DATA
// reads. `ascendc --tiling FILE` writes the kernel's side from the same lines. Facts: their use in Ascend/samples
// (add_custom_tiling.h) and Ascend/DrivingSDK (op_host). See PROVENANCE.md.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>

namespace softnpu::tiling {

// What all tiling classes have. Their fields are placed as the members of a C structure are.
template <typename Self>
class Data {
 public:
  // Bytes that SaveToBuffer writes.
  std::size_t GetDataSize() const { return sizeof(Self); }
  // Copies the fields to `buffer`; writes nothing where `capacity`, in bytes, is too small.
  void SaveToBuffer(void* buffer, std::size_t capacity) const {
    static_assert(std::is_trivially_copyable_v<Self>, "the fields of a tiling structure are numbers and structures");
    if (buffer == nullptr || capacity < sizeof(Self)) return;
    std::memcpy(buffer, static_cast<const Self*>(this), sizeof(Self));
  }
};

}  // namespace softnpu::tiling

#define BEGIN_TILING_DATA_DEF(name)                   \
  class name : public ::softnpu::tiling::Data<name> { \
   public:
#define TILING_DATA_FIELD_DEF(type, name)          \
  type name##_ = {};                               \
  void set_##name(type value) { name##_ = value; } \
  type get_##name() const { return name##_; }
#define TILING_DATA_FIELD_DEF_ARR(type, size, name)                                      \
  type name##_[size] = {};                                                               \
  void set_##name(const type* values) { std::memcpy(name##_, values, sizeof(name##_)); } \
  const type* get_##name() const { return name##_; }                                     \
  type* get_##name() { return name##_; }
#define TILING_DATA_FIELD_DEF_STRUCT(type, name) type name;
// With the semicolon, which some headers leave out.
#define END_TILING_DATA_DEF \
  }                         \
  ;
// Names the operator that a class is of; the command reads it.
#define REGISTER_TILING_DATA_CLASS(op, name) \
  static_assert(std::is_trivially_copyable_v<name>, #name " is the tiling of " #op);
