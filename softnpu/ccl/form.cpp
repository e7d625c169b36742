#include "ccl/form.h"

#include <cstddef>
#include <cstring>
#include <utility>

#include "acl/acl.h"
#include "base/text.h"
#include "ccl/acl_status.h"
#include "ccl/own_files.h"
#include "ccl/watcher.h"

namespace softnpu::ccl {
namespace {

constexpr uint32_t kMagicWord = 0xf0f0f0f0;

}  // namespace

Status read_options(const HcclCommConfig* config, Options* out) {
  if (config == nullptr) return Status::ok();
  size_t size = 0;
  uint32_t magic = 0;
  std::memcpy(&size, config->reserved, sizeof size);
  std::memcpy(&magic, config->reserved + sizeof size, sizeof magic);
  if (magic != kMagicWord || size < offsetof(HcclCommConfig, hcclBufferSize)) {
    return {ACL_ERROR_INVALID_PARAM, "config was not filled by HcclCommConfigInit"};
  }
  // Programs that were built with an older header pass a shorter one.
  if (size < offsetof(HcclCommConfig, hcclUdi)) return Status::ok();
  out->name.assign(config->hcclCommName, strnlen(config->hcclCommName, COMM_NAME_MAX_LENGTH));
  if (out->name.size() < COMM_NAME_MAX_LENGTH) return Status::ok();
  return {ACL_ERROR_INVALID_PARAM, text("hcclCommName is longer than ", COMM_NAME_MAX_LENGTH - 1, " bytes")};
}

Status form(const RootInfo& info, uint32_t ranks, uint32_t rank, const Options& options, bool may_be_early,
            std::shared_ptr<Communicator>* out) {
  if (ranks == 0 || ranks > kMaxRanks || rank >= ranks) {
    return {ACL_ERROR_INVALID_PARAM, text("rank ", rank, " of ", ranks, ": there are 1 to ", kMaxRanks, " ranks")};
  }
  int32_t device = 0;
  SOFTNPU_RETURN_IF_ERROR(from_acl([&] { return aclrtGetDevice(&device); }));
  Settings settings;
  SOFTNPU_RETURN_IF_ERROR(read_settings(&settings));
  softnpuMemoryFile memory{};
  SOFTNPU_RETURN_IF_ERROR(memory_of(device, &memory));
  SOFTNPU_RETURN_IF_ERROR(Watcher::get().start());
  Membership membership;
  SOFTNPU_RETURN_IF_ERROR(join(info, {ranks, rank, device, options.name, settings.connect, may_be_early}, &membership));
  *out = std::make_shared<Communicator>(std::move(membership), info, rank, memory, device, settings);
  return Status::ok();
}

Status form_all(std::span<const int32_t> devices, std::vector<std::shared_ptr<Communicator>>* out) {
  const auto ranks = static_cast<uint32_t>(devices.size());
  if (ranks == 0 || ranks > kMaxRanks) {
    return {ACL_ERROR_INVALID_PARAM, text(ranks, " ranks: there are 1 to ", kMaxRanks)};
  }
  Settings settings;
  SOFTNPU_RETURN_IF_ERROR(read_settings(&settings));
  SOFTNPU_RETURN_IF_ERROR(Watcher::get().start());
  RootInfo info;
  SOFTNPU_RETURN_IF_ERROR(RootInfo::make(&info));
  Membership membership;
  membership.name = info.name;
  SOFTNPU_RETURN_IF_ERROR(ControlArea::create(ranks, &membership.control));
  membership.control->close_file();
  std::vector<softnpuMemoryFile> memory(ranks);
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    SOFTNPU_RETURN_IF_ERROR(memory_of(devices[rank], &memory[rank]));
    membership.members.push_back(Member::local(memory[rank]));
  }
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    out->push_back(std::make_shared<Communicator>(membership, info, rank, memory[rank], devices[rank], settings));
  }
  return Status::ok();
}

}  // namespace softnpu::ccl
