#include "core/storage_sender.h"

#include <c10/util/Exception.h>

#include <chrono>
#include <map>

namespace torch_npu {
namespace {

constexpr std::chrono::seconds kTimeout{30};

struct Senders {
  static Senders& get() {
    static auto& instance = *std::make_unique<Senders>().release();
    return instance;
  }

  std::mutex mutex;  // guards known
  std::map<std::string, std::weak_ptr<StorageSender>> known;
};

}  // namespace

std::shared_ptr<StorageSender> StorageSender::connect(const std::string& name) {
  Senders& senders = Senders::get();
  std::lock_guard lock(senders.mutex);
  std::erase_if(senders.known, [](const auto& entry) { return entry.second.expired(); });
  if (const auto known = senders.known.find(name); known != senders.known.end()) {
    if (auto sender = known->second.lock()) return sender;
  }
  auto sender = std::make_shared<StorageSender>(name);
  senders.known[name] = sender;
  return sender;
}

StorageSender::StorageSender(const std::string& name) : socket_(PeerSocket::connect(name, kTimeout)) {}

SharedLocation StorageSender::open(std::uint64_t number) {
  UserReply reply = ask({UserRequest::Kind::kOpen, number});
  TORCH_CHECK(reply.is_known != 0, "process ", socket_.peer(), " gives no npu tensor for this message: it has ended, ",
              "or the message was changed or received before. Each message gives one tensor; send the tensor again");
  reply.location.key.back() = 0;
  return reply.location;
}

void StorageSender::release(std::uint64_t number) noexcept { (void)ask({UserRequest::Kind::kRelease, number}); }

UserReply StorageSender::ask(UserRequest request) noexcept {
  UserReply reply;
  std::lock_guard lock(mutex_);
  if (!socket_.send(&request, sizeof request)) return {};
  while (socket_.receive(&reply, sizeof reply)) {
    if (reply.user == request.user) return reply;  // not the late answer to an earlier request
  }
  return {};
}

}  // namespace torch_npu
