#include "distributed/communicator.h"

#include <c10/util/Exception.h>

#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include "core/device.h"
#include "distributed/hccl.h"

namespace torch_npu {
namespace {

// softnpu's own functions (softnpu/collectives.h); a CANN has none of them.
using MakeRootInfo = HcclResult(HcclRootInfo*);
using InitInBackground = HcclResult(uint32_t, const uint32_t*, const HcclRootInfo*, uint32_t, HcclCommConfig*,
                                    HcclComm*);

std::vector<uint8_t> bytes_of(const HcclRootInfo& root) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(&root);
  return {bytes, bytes + sizeof root};
}

HcclRootInfo root_of(const std::string& key, const std::vector<uint8_t>& bytes) {
  HcclRootInfo root{};
  TORCH_CHECK_WITH(DistBackendError, bytes.size() == sizeof root, "the store's entry ", key, " has ", bytes.size(),
                   " bytes, not the ", sizeof root, " of HCCL's root information");
  std::memcpy(&root, bytes.data(), sizeof root);
  return root;
}

}  // namespace

std::shared_ptr<Communicator> Communicator::connect(c10d::Store& store, const std::string& key, int rank, int size,
                                                    c10::DeviceIndex device, HcclCommConfig* config) {
  static const HcclFunction<decltype(HcclGetRootInfo)> get_root_info("HcclGetRootInfo");
  static const HcclFunction<decltype(HcclCommInitRootInfoConfig)> init("HcclCommInitRootInfoConfig");
  bind_device(device);
  HcclRootInfo root{};
  if (rank == 0) {
    get_root_info(&root);
    store.set(key, bytes_of(root));
  } else {
    root = root_of(key, store.get(key));
  }
  HcclCommConfig defaults;
  if (config == nullptr) {
    HcclCommConfigInit(&defaults);
    config = &defaults;
  }
  HcclComm handle = nullptr;
  init(static_cast<uint32_t>(size), &root, static_cast<uint32_t>(rank), config, &handle);
  return std::shared_ptr<Communicator>(new Communicator(handle, device));
}

std::shared_ptr<Communicator> Communicator::connect_pair(c10d::Store& store, const std::string& key, int low, int high,
                                                         int rank, c10::DeviceIndex device, HcclCommConfig* config) {
  const int rank_of_pair = rank == low ? 0 : 1;
  if (find_hccl_symbol("softnpuCommInitInBackground") == nullptr) {
    return connect(store, key, rank_of_pair, 2, device, config);
  }
  static const HcclFunction<MakeRootInfo> make_root_info("softnpuMakeRootInfo");
  static const HcclFunction<InitInBackground> init("softnpuCommInitInBackground");
  bind_device(device);
  // The rank that comes first leaves its root information; a store's get() would wait for the other.
  HcclRootInfo root{};
  make_root_info(&root);
  root = root_of(key, store.compareSet(key, {}, bytes_of(root)));
  const std::array ids = {static_cast<uint32_t>(low), static_cast<uint32_t>(high)};
  HcclComm handle = nullptr;
  init(2, ids.data(), &root, static_cast<uint32_t>(rank_of_pair), config, &handle);
  return std::shared_ptr<Communicator>(new Communicator(handle, device));
}

Communicator::~Communicator() { close("it was destroyed"); }

HcclComm Communicator::handle() const {
  std::lock_guard lock(mutex_);
  TORCH_CHECK_WITH(DistBackendError, handle_ != nullptr, "the HCCL communicator cannot be used any more: ", reason_);
  return handle_;
}

std::string Communicator::name() const {
  static const HcclFunction<decltype(HcclGetCommName)> get_name("HcclGetCommName");
  std::array<char, COMM_NAME_MAX_LENGTH> text{};
  get_name(handle(), text.data());
  text.back() = '\0';
  return text.data();
}

std::string Communicator::async_error() const noexcept {
  try {
    static const HcclFunction<decltype(HcclGetCommAsyncError)> get_error("HcclGetCommAsyncError");
    std::lock_guard lock(mutex_);
    if (handle_ == nullptr) return {};
    HcclResult error = HCCL_SUCCESS;
    if (get_error.result(handle_, &error) != HCCL_SUCCESS || error == HCCL_SUCCESS) return {};
    return c10::str("HCCL reports error ", static_cast<int>(error));
  } catch (const std::exception& error) {
    return error.what();
  }
}

void Communicator::end(const std::string& reason, bool fails_flights) noexcept {
  HcclComm handle = nullptr;
  {
    std::lock_guard lock(mutex_);
    handle = std::exchange(handle_, nullptr);
    if (handle == nullptr) return;
    try {
      reason_ = reason;
    } catch (...) {
      reason_.clear();  // no memory for the text
    }
  }
  if (in_bad_fork()) return;
  try {
    static const HcclFunction<decltype(HcclCommDestroy)> destroy("HcclCommDestroy");
    // A CANN's own destruction aborts.
    static const auto abort = reinterpret_cast<HcclResult (*)(HcclComm)>(find_hccl_symbol("softnpuCommAbort"));
    if (fails_flights && abort != nullptr) static_cast<void>(abort(handle));
    static_cast<void>(destroy.result(handle));
  } catch (...) {
    // There is no library any more, and so no communicator.
  }
}

}  // namespace torch_npu
