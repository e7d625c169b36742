#include "ccl/connect.h"

#include <cstddef>
#include <cstring>
#include <utility>

#include "acl/acl.h"
#include "base/text.h"
#include "ccl/acl_status.h"
#include "ccl/connector.h"
#include "ccl/own_files.h"
#include "ccl/watcher.h"

namespace softnpu::ccl {
namespace {

constexpr uint32_t kMagicWord = 0xf0f0f0f0;

Status check_ranks(uint64_t ranks, uint32_t rank) {
  if (ranks > 0 && ranks <= kMaxRanks && rank < ranks) return Status::ok();
  return {ACL_ERROR_INVALID_PARAM, text("rank ", rank, " of ", ranks, ": there are 1 to ", kMaxRanks, " ranks")};
}

// What a rank needs of its process.
struct Own {
  int32_t device = 0;
  Settings settings;
  softnpuMemoryFile memory{};
};

Status find_own(Own* out) {
  SOFTNPU_RETURN_IF_ERROR(from_acl([&] { return aclrtGetDevice(&out->device); }));
  SOFTNPU_RETURN_IF_ERROR(read_settings(&out->settings));
  SOFTNPU_RETURN_IF_ERROR(memory_of(out->device, &out->memory));
  return Watcher::get().start();
}

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

Status connect(const RootInfo& info, uint32_t ranks, uint32_t rank, const Options& options, bool may_be_early,
               std::shared_ptr<Communicator>* out) {
  SOFTNPU_RETURN_IF_ERROR(check_ranks(ranks, rank));
  Own own;
  SOFTNPU_RETURN_IF_ERROR(find_own(&own));
  Membership membership;
  const RankConfig self{ranks, rank, own.device, options.name, own.settings.connect, may_be_early, rank};
  SOFTNPU_RETURN_IF_ERROR(join(info, self, &membership));
  *out = std::make_shared<Communicator>(std::move(membership), info, rank, own.memory, own.device, own.settings);
  return Status::ok();
}

Status connect_in_background(const RootInfo& info, std::span<const uint32_t> ids, uint32_t rank, const Options& options,
                             std::shared_ptr<Communicator>* out) {
  SOFTNPU_RETURN_IF_ERROR(check_ranks(ids.size(), rank));
  Own own;
  SOFTNPU_RETURN_IF_ERROR(find_own(&own));
  const std::string& name = options.name.empty() ? info.name : options.name;
  *out = std::make_shared<Communicator>(name, std::vector(ids.begin(), ids.end()), info, rank, own.memory, own.device,
                                        own.settings);
  const auto ranks = static_cast<uint32_t>(ids.size());
  return Connector::get().add(*out, {ranks, rank, own.device, name, own.settings.connect, false, ids[rank]});
}

Status connect_all(std::span<const int32_t> devices, std::vector<std::shared_ptr<Communicator>>* out) {
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
