#pragma once
// What ranks and the process that called HcclGetRootInfo send each other to form a communicator: each rank a Hello,
// then the process an Admission to each and, if it is good, one Introduction for every rank.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "ccl/root_info.h"

namespace softnpu::ccl {

struct Hello {
  static constexpr uint64_t kMagic = 0x736e70756363'0002;
  static constexpr size_t kFiles = 3;  // memory, bell, process

  uint64_t magic = kMagic;
  Secret secret{};
  uint32_t ranks = 0;
  uint32_t rank = 0;
  uint32_t id = 0;     // the rank's number in errors
  uint64_t token = 0;  // of the process
  int32_t pid = 0;
  int32_t device = 0;
  uint64_t memory_bytes = 0;
  std::array<char, COMM_NAME_MAX_LENGTH> name{};  // the configured one; rank 0's counts
};

struct Admission {
  uint32_t is_good = 0;
  std::array<char, COMM_NAME_MAX_LENGTH> name{};
  std::array<char, 512> reason{};  // if it is not good
};
constexpr size_t kAdmissionFiles = 1;  // the control area

// Forwards a rank's Hello, without the secret, and its files.
struct Introduction {
  uint32_t rank = 0;
  int32_t pid = 0;
  uint64_t token = 0;
  int32_t device = 0;
  uint64_t memory_bytes = 0;
};

template <typename Message>
std::span<const std::byte> bytes_of(const Message& message) {
  return std::as_bytes(std::span(&message, 1));
}
template <typename Message>
std::span<std::byte> room_of(Message* message) {
  return std::as_writable_bytes(std::span(message, 1));
}

}  // namespace softnpu::ccl
