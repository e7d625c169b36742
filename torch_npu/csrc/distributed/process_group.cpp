#include "distributed/process_group.h"

#include <c10/core/DeviceGuard.h>
#include <c10/core/StreamGuard.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <set>
#include <utility>

#include "core/device.h"
#include "core/named_groups.h"
#include "core/stream.h"

namespace torch_npu {
namespace {

// The peer of a communicator with all ranks.
constexpr int kAll = -1;
// Streams of a pool that programs rarely use, since streams of the same pool may be one.
constexpr int kStreamPriority = -1;

// The groups of this process, for its end.
struct Groups {
  std::mutex mutex;  // guards the set
  std::set<ProcessGroupHCCL*> all;
};

Groups& groups() {
  static auto& all = *std::make_unique<Groups>().release();  // used until the end of the process
  return all;
}

}  // namespace

ProcessGroupHCCL::ProcessGroupHCCL(c10::intrusive_ptr<c10d::Store> store, int rank, int size,
                                   c10::intrusive_ptr<HcclOptions> options)
    : Backend(rank, size), store_(std::move(store)), options_(std::move(options)), settings_(read_hccl_settings()) {
  TORCH_CHECK_VALUE(rank >= 0 && rank < size, "rank ", rank, " is not in a group of ", size);
  TORCH_CHECK_VALUE(store_ != nullptr, "ProcessGroupHCCL needs a store");
  static_cast<void>(comm_config(*options_));  // tells of bad entries here
  TORCH_CHECK_VALUE(options_->op_timeout.value_or(kBackendDefaultTimeout).count() > 0,
                    "op_timeout of ProcessGroupHCCL.Options is not more than 0");
  init();
  watchdog_ = std::make_shared<Watchdog>(
      [this] {
        for (const auto& communicator : communicators()) {
          if (std::string error = communicator->async_error(); !error.empty()) return error;
        }
        return std::string();
      },
      [this](const std::string& failure) { on_failure(failure); });
  std::lock_guard lock(groups().mutex);
  groups().all.insert(this);
}

ProcessGroupHCCL::~ProcessGroupHCCL() {
  {
    std::lock_guard lock(groups().mutex);
    groups().all.erase(this);
  }
  watchdog_->stop();
}

void ProcessGroupHCCL::on_failure(const std::string& failure) {
  if (settings_.error_handling == ErrorHandling::kNone) return;
  std::vector<std::shared_ptr<Communicator>> ended = communicators();
  {
    std::lock_guard lock(mutex_);
    if (end_reason_.empty()) end_reason_ = failure;
  }
  LOG(ERROR) << failure;
  for (const auto& communicator : ended) communicator->abort(failure);
}

std::vector<std::shared_ptr<Communicator>> ProcessGroupHCCL::communicators() {
  std::vector<std::shared_ptr<Communicator>> all;
  std::lock_guard lock(mutex_);
  for (const auto& [key, communicator] : communicators_) all.push_back(communicator);
  return all;
}

void ProcessGroupHCCL::check_usable() {
  std::lock_guard lock(mutex_);
  TORCH_CHECK_WITH(DistBackendError, end_reason_.empty(), "the hccl process group ", options_->group_name,
                   " has ended on rank ", rank_, ": ", end_reason_);
}

void ProcessGroupHCCL::setTimeout(std::chrono::milliseconds timeout) {
  options_->timeout = timeout;
  options_->op_timeout.reset();  // what the program says last counts
}

c10d::ErrorType ProcessGroupHCCL::getError() {
  std::lock_guard lock(mutex_);
  return end_reason_.empty() ? c10d::ErrorType::SUCCESS : c10d::ErrorType::COMM_ERROR;
}

std::string ProcessGroupHCCL::next_key(const std::string& purpose) {
  std::lock_guard lock(mutex_);
  return c10::str("hccl/", purpose, "/", connections_[purpose]++);
}

std::shared_ptr<Communicator> ProcessGroupHCCL::communicator(c10::DeviceIndex device) {
  {
    std::lock_guard lock(mutex_);
    const auto found = communicators_.find({device, kAll});
    if (found != communicators_.end()) return found->second;
  }
  HcclCommConfig config = comm_config(*options_);
  auto result = Communicator::connect(*store_, next_key("all"), rank_, size_, device, &config);
  std::lock_guard lock(mutex_);
  return communicators_.emplace(std::pair(device, kAll), std::move(result)).first->second;
}

std::pair<std::shared_ptr<Communicator>, uint32_t> ProcessGroupHCCL::link(c10::DeviceIndex device, int peer) {
  const auto [low, high] = std::minmax(rank_, peer);
  const auto rank_of_pair = static_cast<uint32_t>(peer == low ? 0 : 1);
  {
    std::lock_guard lock(mutex_);
    const auto pair = communicators_.find({device, peer});
    if (pair != communicators_.end()) return {pair->second, rank_of_pair};
  }
  HcclCommConfig config = comm_config(*options_);
  const std::string key = next_key(c10::str(low, ":", high));
  auto result = Communicator::connect_pair(*store_, key, low, high, rank_, device, &config);
  std::lock_guard lock(mutex_);
  return {communicators_.emplace(std::pair(device, peer), std::move(result)).first->second, rank_of_pair};
}

c10::Stream ProcessGroupHCCL::stream_of(c10::DeviceIndex device) { return stream_of(device, kAll, false); }

c10::Stream ProcessGroupHCCL::stream_of(c10::DeviceIndex device, int peer, bool receives) {
  const bool is_urgent = options_->is_high_priority_stream || settings_.high_priority;
  std::lock_guard lock(mutex_);
  const std::tuple key(device, peer, receives);
  if (const auto found = streams_.find(key); found != streams_.end()) return found->second;
  const c10::Stream result = stream_from_pool(device, is_urgent ? kGreatestPriority : kStreamPriority);
  return streams_.emplace(key, result).first->second;
}

void ProcessGroupHCCL::eagerConnectSingleDevice(at::Device device) { communicator(device.index()); }

c10::intrusive_ptr<c10d::Backend> ProcessGroupHCCL::split(const c10::intrusive_ptr<c10d::Store>& store,
                                                          const std::vector<int>& ranks,
                                                          const c10::intrusive_ptr<Options>& options) {
  const auto location = std::ranges::find(ranks, rank_);
  if (location == ranks.end()) return nullptr;  // this rank is in no part
  auto own = c10::dynamic_intrusive_pointer_cast<HcclOptions>(options);
  TORCH_CHECK_TYPE(own != nullptr, "split_group of an hccl group takes ProcessGroupHCCL.Options");
  auto part = c10::make_intrusive<ProcessGroupHCCL>(store->clone(), static_cast<int>(location - ranks.begin()),
                                                    static_cast<int>(ranks.size()), std::move(own));
  part->setBoundDeviceId(bound_device_id_);
  return part;
}

void ProcessGroupHCCL::reset_communicators(const std::string& reason) {
  std::vector<std::shared_ptr<Communicator>> ended = communicators();
  {
    std::lock_guard lock(mutex_);
    communicators_.clear();
    end_reason_.clear();
  }
  for (const auto& communicator : ended) communicator->abort(reason);
}

void ProcessGroupHCCL::abort() {
  const std::vector<std::shared_ptr<Communicator>> ended = communicators();
  {
    std::lock_guard lock(mutex_);
    if (end_reason_.empty()) end_reason_ = "it was aborted";
    communicators_.clear();
  }
  for (const auto& communicator : ended) communicator->abort("the process group was aborted");
  watchdog_->stop();
}

void ProcessGroupHCCL::shutdown() {
  watchdog_->wait_for_flights();
  const std::vector<std::shared_ptr<Communicator>> ended = communicators();
  {
    std::lock_guard lock(mutex_);
    if (end_reason_.empty()) end_reason_ = "it was destroyed";
    communicators_.clear();
  }
  watchdog_->stop();
  for (const auto& communicator : ended) communicator->close("the process group was destroyed");
}

std::string ProcessGroupHCCL::comm_name(c10::DeviceIndex device, bool connects) {
  if (!connects) {
    std::lock_guard lock(mutex_);
    if (!communicators_.contains({device, kAll})) return "";
  }
  std::string name = communicator(device)->name();
  name_group(name, *this);
  return name;
}

int64_t ProcessGroupHCCL::comm_address(c10::DeviceIndex device) {
  return static_cast<int64_t>(reinterpret_cast<intptr_t>(communicator(device)->handle()));
}

void end_process_groups(bool after_error) noexcept {
  std::lock_guard lock(groups().mutex);
  for (ProcessGroupHCCL* group : groups().all) {
    try {
      after_error ? group->abort() : group->shutdown();
    } catch (const std::exception&) {
      // The process ends: its communicators do, too.
    }
  }
}

}  // namespace torch_npu
