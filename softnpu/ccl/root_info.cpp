#include "ccl/root_info.h"

#include <sys/random.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string_view>

#include "base/text.h"

namespace softnpu::ccl {
namespace {

constexpr std::array<char, 16> kMagic = {'s', 'o', 'f', 't', 'n', 'p', 'u', ' ', 'h', 'c', 'c', 'l', ' ', '1'};
constexpr size_t kText = 64;

struct Packed {
  std::array<char, 16> magic;
  std::array<char, kText> name;
  std::array<char, kText> host;
  Secret secret;
};
static_assert(sizeof(Packed) <= HCCL_ROOT_INFO_BYTES);

template <size_t N>
std::string hexadecimal(const std::array<uint8_t, N>& bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (const uint8_t byte : bytes) {
    out += kDigits[byte >> 4];
    out += kDigits[byte & 15];
  }
  return out;
}

std::string this_host() {
  std::string id;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> id;
  return id.substr(0, kText - 1);
}

template <size_t N>
Status draw(std::array<uint8_t, N>* out) {
  if (getrandom(out->data(), out->size(), 0) == static_cast<ssize_t>(out->size())) return Status::ok();
  return {ACL_ERROR_RT_INTERNAL_ERROR, text("getrandom: ", std::strerror(errno))};
}

// FNV-1a with 64 bits: it distributes names, the secret protects them.
uint64_t hash(uint64_t seed, std::string_view bytes) {
  for (const char byte : bytes) seed = (seed ^ static_cast<uint8_t>(byte)) * 0x100000001b3;
  return seed;
}

std::string read_text(const std::array<char, kText>& from) { return {from.data(), strnlen(from.data(), kText - 1)}; }

}  // namespace

Status RootInfo::make(RootInfo* out) {
  std::array<uint8_t, 8> number{};
  SOFTNPU_RETURN_IF_ERROR(draw(&number));
  SOFTNPU_RETURN_IF_ERROR(draw(&out->secret));
  out->name = text("softnpu-hccl-", hexadecimal(number));
  out->host = this_host();
  return Status::ok();
}

RootInfo RootInfo::derive(const std::string& purpose) const {
  RootInfo result = *this;
  std::array<uint8_t, 8> number{};
  const std::string_view secret_text(reinterpret_cast<const char*>(secret.data()), secret.size());
  const uint64_t hashed = hash(hash(hash(0xcbf29ce484222325, secret_text), name), purpose);
  std::memcpy(number.data(), &hashed, sizeof hashed);
  result.name = text("softnpu-hccl-", hexadecimal(number));
  return result;
}

void RootInfo::write(HcclRootInfo* out) const {
  Packed packed{};
  packed.magic = kMagic;
  name.copy(packed.name.data(), kText - 1);
  host.copy(packed.host.data(), kText - 1);
  packed.secret = secret;
  std::memset(out, 0, sizeof *out);
  std::memcpy(out, &packed, sizeof packed);
}

Status RootInfo::read(const HcclRootInfo& from, RootInfo* out) {
  Packed packed{};
  std::memcpy(&packed, &from, sizeof packed);
  out->name = read_text(packed.name);
  out->host = read_text(packed.host);
  out->secret = packed.secret;
  if (packed.magic != kMagic || out->name.empty()) {
    return {ACL_ERROR_INVALID_PARAM,
            "rootInfo is none: pass what HcclGetRootInfo gave on the first rank, all its bytes"};
  }
  if (out->host != this_host()) {
    return {ACL_ERROR_FEATURE_UNSUPPORTED,
            "rootInfo is of another host: ranks on several hosts are not there yet. Start all ranks on one host"};
  }
  return Status::ok();
}

bool same_secret(const Secret& one, const Secret& other) {
  uint8_t difference = 0;
  for (size_t i = 0; i < one.size(); ++i) difference |= static_cast<uint8_t>(one[i] ^ other[i]);
  return difference == 0;
}

}  // namespace softnpu::ccl
