// The C functions that make, ask and end communicators.

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "base/text.h"
#include "ccl/api.h"
#include "ccl/connect.h"
#include "ccl/rendezvous_server.h"
#include "softnpu/collectives.h"

using softnpu::require;
using softnpu::Status;
using softnpu::text;
using softnpu::ccl::Communicator;
using softnpu::ccl::communicators;
using softnpu::ccl::find;
using softnpu::ccl::hccl_api;
using softnpu::ccl::Options;
using softnpu::ccl::RootInfo;
using softnpu::ccl::Settings;

namespace {

Status init(uint32_t ranks, const HcclRootInfo* root, uint32_t rank, const HcclCommConfig* config, HcclComm* comm) {
  SOFTNPU_RETURN_IF_ERROR(require(root, "rootInfo"));
  SOFTNPU_RETURN_IF_ERROR(require(comm, "comm"));
  *comm = nullptr;
  Options options;
  SOFTNPU_RETURN_IF_ERROR(read_options(config, &options));
  RootInfo info;
  SOFTNPU_RETURN_IF_ERROR(RootInfo::read(*root, &info));
  std::shared_ptr<Communicator> result;
  SOFTNPU_RETURN_IF_ERROR(softnpu::ccl::connect(info, ranks, rank, options, false, &result));
  *comm = communicators().add(std::move(result));
  return Status::ok();
}

// What the members of a sub-communicator know of it before they meet.
std::string purpose_of(uint64_t id, const uint32_t* ranks, uint32_t count) {
  std::string out = text("sub-communicator ", id, " of ranks");
  for (uint32_t i = 0; i < count; ++i) out += text(" ", ranks[i]);
  return out;
}

}  // namespace

HcclResult HcclGetRootInfo(HcclRootInfo* rootInfo) {
  return hccl_api("HcclGetRootInfo", [&]() -> Status {
    SOFTNPU_RETURN_IF_ERROR(require(rootInfo, "rootInfo"));
    Settings settings;
    SOFTNPU_RETURN_IF_ERROR(softnpu::ccl::read_settings(&settings));
    RootInfo info;
    SOFTNPU_RETURN_IF_ERROR(RootInfo::make(&info));
    SOFTNPU_RETURN_IF_ERROR(softnpu::ccl::RendezvousServer::get().open(info, settings.connect));
    info.write(rootInfo);
    return Status::ok();
  });
}

HcclResult HcclCommInitRootInfo(uint32_t nRanks, const HcclRootInfo* rootInfo, uint32_t rank, HcclComm* comm) {
  return hccl_api("HcclCommInitRootInfo", [&] { return init(nRanks, rootInfo, rank, nullptr, comm); });
}

HcclResult HcclCommInitRootInfoConfig(uint32_t nRanks, const HcclRootInfo* rootInfo, uint32_t rank,
                                      HcclCommConfig* config, HcclComm* comm) {
  return hccl_api("HcclCommInitRootInfoConfig", [&]() -> Status {
    SOFTNPU_RETURN_IF_ERROR(require(config, "config"));
    return init(nRanks, rootInfo, rank, config, comm);
  });
}

HcclResult HcclCommInitAll(uint32_t ndev, int32_t* devices, HcclComm* comms) {
  return hccl_api("HcclCommInitAll", [&]() -> Status {
    SOFTNPU_RETURN_IF_ERROR(require(devices, "devices"));
    SOFTNPU_RETURN_IF_ERROR(require(comms, "comms"));
    std::vector<std::shared_ptr<Communicator>> result;
    SOFTNPU_RETURN_IF_ERROR(softnpu::ccl::connect_all({devices, ndev}, &result));
    for (uint32_t rank = 0; rank < ndev; ++rank) comms[rank] = communicators().add(std::move(result[rank]));
    return Status::ok();
  });
}

HcclResult HcclCreateSubCommConfig(HcclComm* comm, uint32_t rankNum, uint32_t* rankIds, uint64_t subCommId,
                                   uint32_t subCommRankId, HcclCommConfig* config, HcclComm* subComm) {
  return hccl_api("HcclCreateSubCommConfig", [&]() -> Status {
    SOFTNPU_RETURN_IF_ERROR(require(comm, "comm"));
    SOFTNPU_RETURN_IF_ERROR(require(subComm, "subComm"));
    *subComm = nullptr;
    std::shared_ptr<Communicator> parent;
    SOFTNPU_RETURN_IF_ERROR(find(*comm, &parent));
    if (rankIds == nullptr) return Status::ok();  // this rank is not among them
    Options options;
    SOFTNPU_RETURN_IF_ERROR(read_options(config, &options));
    if (rankNum == 0 || rankNum > parent->size() || subCommRankId >= rankNum ||
        rankIds[subCommRankId] != parent->rank()) {
      return {ACL_ERROR_INVALID_PARAM, text("rank ", parent->rank(), " of ", parent->size(), " is not number ",
                                            subCommRankId, " of the ", rankNum, " in rankIds")};
    }
    for (uint32_t i = 0; i < rankNum; ++i) {
      if (rankIds[i] >= parent->size() || std::count(rankIds, rankIds + rankNum, rankIds[i]) != 1) {
        return {ACL_ERROR_INVALID_PARAM,
                text("rankIds[", i, "] is ", rankIds[i], ": each is another rank of ", parent->size())};
      }
    }
    const RootInfo info = parent->info().derive(purpose_of(subCommId, rankIds, rankNum));
    if (subCommRankId == 0) {
      SOFTNPU_RETURN_IF_ERROR(softnpu::ccl::RendezvousServer::get().open(info, parent->settings().connect));
    }
    std::shared_ptr<Communicator> result;
    SOFTNPU_RETURN_IF_ERROR(softnpu::ccl::connect(info, rankNum, subCommRankId, options, subCommRankId != 0, &result));
    *subComm = communicators().add(std::move(result));
    return Status::ok();
  });
}

HcclResult HcclCommDestroy(HcclComm comm) {
  return hccl_api("HcclCommDestroy", [&]() -> Status {
    std::shared_ptr<Communicator> found;
    SOFTNPU_RETURN_IF_ERROR(communicators().find(comm, &found));
    return communicators().remove(comm);
  });
}

HcclResult softnpuCommAbort(HcclComm comm) {
  return hccl_api("softnpuCommAbort", [&]() -> Status {
    std::shared_ptr<Communicator> found;
    SOFTNPU_RETURN_IF_ERROR(find(comm, &found));
    found->fail({ACL_ERROR_RT_STREAM_ABORT,
                 text("communicator ", found->name(), " was aborted by rank ", found->id_of(found->rank()))});
    return Status::ok();
  });
}

HcclResult softnpuMakeRootInfo(HcclRootInfo* rootInfo) {
  return hccl_api("softnpuMakeRootInfo", [&]() -> Status {
    SOFTNPU_RETURN_IF_ERROR(require(rootInfo, "rootInfo"));
    RootInfo info;
    SOFTNPU_RETURN_IF_ERROR(RootInfo::make(&info));
    info.write(rootInfo);
    return Status::ok();
  });
}

HcclResult softnpuCommInitInBackground(uint32_t nRanks, const uint32_t* rankIds, const HcclRootInfo* rootInfo,
                                       uint32_t rank, HcclCommConfig* config, HcclComm* comm) {
  return hccl_api("softnpuCommInitInBackground", [&]() -> Status {
    SOFTNPU_RETURN_IF_ERROR(require(rankIds, "rankIds"));
    SOFTNPU_RETURN_IF_ERROR(require(rootInfo, "rootInfo"));
    SOFTNPU_RETURN_IF_ERROR(require(comm, "comm"));
    *comm = nullptr;
    Options options;
    SOFTNPU_RETURN_IF_ERROR(read_options(config, &options));
    RootInfo info;
    SOFTNPU_RETURN_IF_ERROR(RootInfo::read(*rootInfo, &info));
    std::shared_ptr<Communicator> result;
    SOFTNPU_RETURN_IF_ERROR(softnpu::ccl::connect_in_background(info, {rankIds, nRanks}, rank, options, &result));
    *comm = communicators().add(std::move(result));
    return Status::ok();
  });
}

HcclResult HcclGetRankSize(HcclComm comm, uint32_t* rankSize) {
  return hccl_api("HcclGetRankSize", [&]() -> Status {
    SOFTNPU_RETURN_IF_ERROR(require(rankSize, "rankSize"));
    std::shared_ptr<Communicator> found;
    SOFTNPU_RETURN_IF_ERROR(find(comm, &found));
    *rankSize = found->size();
    return Status::ok();
  });
}

HcclResult HcclGetRankId(HcclComm comm, uint32_t* rank) {
  return hccl_api("HcclGetRankId", [&]() -> Status {
    SOFTNPU_RETURN_IF_ERROR(require(rank, "rank"));
    std::shared_ptr<Communicator> found;
    SOFTNPU_RETURN_IF_ERROR(find(comm, &found));
    *rank = found->rank();
    return Status::ok();
  });
}

HcclResult HcclGetCommName(HcclComm comm, char* commName) {
  return hccl_api("HcclGetCommName", [&]() -> Status {
    SOFTNPU_RETURN_IF_ERROR(require(commName, "commName"));
    std::shared_ptr<Communicator> found;
    SOFTNPU_RETURN_IF_ERROR(find(comm, &found));
    const std::string& name = found->name();
    commName[name.copy(commName, COMM_NAME_MAX_LENGTH - 1)] = '\0';
    return Status::ok();
  });
}

HcclResult HcclGetCommAsyncError(HcclComm comm, HcclResult* asyncError) {
  return hccl_api("HcclGetCommAsyncError", [&]() -> Status {
    SOFTNPU_RETURN_IF_ERROR(require(asyncError, "asyncError"));
    std::shared_ptr<Communicator> found;
    SOFTNPU_RETURN_IF_ERROR(find(comm, &found));
    *asyncError = softnpu::ccl::result_of(found->condition());
    return Status::ok();
  });
}

uint32_t HcclGetCommConfigCapability() { return HCCL_COMM_CONFIG_COMM_NAME + 1; }

// Every result is deterministic: the order of a reduction is that of the ranks.
HcclResult HcclSetConfig(HcclConfig config, HcclConfigValue configValue) {
  return hccl_api("HcclSetConfig", [&]() -> Status {
    if (config == HCCL_DETERMINISTIC && configValue.value >= 0) return Status::ok();
    return {ACL_ERROR_INVALID_PARAM, text("setting ", static_cast<int>(config), " to ", configValue.value,
                                          ": there is HCCL_DETERMINISTIC, 0 or more")};
  });
}
