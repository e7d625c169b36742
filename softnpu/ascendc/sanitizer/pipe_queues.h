#pragma once
// The pipes of a core: in-order queues of work that flags connect. One block's; used by its thread alone.

#include <array>
#include <cstdint>
#include <deque>
#include <source_location>
#include <utility>
#include <vector>

#include "softnpu_kernel/instruction.h"

namespace softnpu::kernel::check {

inline constexpr int kEvents = 8;  // of a pair of pipes

// Which event: its pipes and its number, 0 to 7.
struct Flag {
  Pipe from;
  Pipe to;
  int event;
  int index() const { return (static_cast<int>(from) * kPipes + static_cast<int>(to)) * kEvents + event; }
};
inline constexpr int kFlags = kPipes * kPipes * kEvents;

// `Handler` says what happens:
//   void run(Pipe pipe, Work& work)              a pipe comes to `work`
//   Token set(Pipe from)                         a pipe sets a flag, which carries the token
//   void wait(Pipe to, const Token& token)       a pipe goes on behind a wait
template <typename Work, typename Token, typename Handler>
class PipeQueues {
 public:
  explicit PipeQueues(Handler* handler) : handler_(handler) {}

  struct Set {
    Token token;
    std::source_location where;
  };
  struct Entry {
    enum class Kind : uint8_t { kWork, kSet, kWait };
    Kind kind;
    Flag flag;
    std::source_location where;
    Work work;
  };

  void push_work(Pipe pipe, Work work) { push(pipe, {Entry::Kind::kWork, {}, {}, std::move(work)}); }
  // On the queue of flag.from, or at once where that is the scalar unit.
  void push_set(const Flag& flag, const std::source_location& where) {
    if (flag.from == Pipe::kS)
      set(flag, where);
    else
      push(flag.from, {Entry::Kind::kSet, flag, where, Work()});
  }
  // On the queue of flag.to, which is not the scalar unit's.
  void push_wait(const Flag& flag, const std::source_location& where) {
    push(flag.to, {Entry::Kind::kWait, flag, where, Work()});
  }
  // The scalar unit's wait; false where the flag is not set.
  bool try_wait(const Flag& flag) {
    auto& sets = sets_[flag.index()];
    if (sets.empty()) return false;
    handler_->wait(flag.to, sets.front().token);
    sets.erase(sets.begin());
    return true;
  }

  // The flag that `pipe` waits for; null where it can go on or has nothing to do.
  const Entry* blocked(Pipe pipe) const {
    const auto& queue = queue_of(pipe);
    if (queue.empty() || queue.front().kind != Entry::Kind::kWait) return nullptr;
    return is_set(queue.front().flag) ? nullptr : &queue.front();
  }
  bool is_empty(Pipe pipe) const { return queue_of(pipe).empty(); }
  bool is_set(const Flag& flag) const { return !sets_[flag.index()].empty(); }
  uint64_t pending() const { return pending_; }
  const std::vector<Set>& sets(const Flag& flag) const { return sets_[flag.index()]; }

  // Does the first work of `pipe`; false where there is none or it is blocked.
  bool step(Pipe pipe) {
    auto& queue = queues_[static_cast<int>(pipe)];
    if (queue.empty() || blocked(pipe) != nullptr) return false;
    Entry entry = std::move(queue.front());
    queue.pop_front();
    --pending_;
    switch (entry.kind) {
      case Entry::Kind::kWork: handler_->run(pipe, entry.work); break;
      case Entry::Kind::kSet: set(entry.flag, entry.where); break;
      case Entry::Kind::kWait: try_wait(entry.flag); break;
    }
    return true;
  }
  // Goes on until every pipe is empty or blocked.
  void run_ready() {
    for (bool goes_on = pending_ > 0; goes_on;) {
      goes_on = false;
      for (int pipe = 0; pipe < kPipes; ++pipe) {
        while (step(static_cast<Pipe>(pipe))) goes_on = true;
      }
    }
  }

 private:
  const std::deque<Entry>& queue_of(Pipe pipe) const { return queues_[static_cast<int>(pipe)]; }
  void push(Pipe pipe, Entry entry) {
    queues_[static_cast<int>(pipe)].push_back(std::move(entry));
    ++pending_;
  }
  void set(const Flag& flag, const std::source_location& where) {
    sets_[flag.index()].push_back({handler_->set(flag.from), where});
  }

  Handler* handler_;
  std::array<std::deque<Entry>, kPipes> queues_;
  std::array<std::vector<Set>, kFlags> sets_;  // of each flag, the oldest first; seldom more than one
  uint64_t pending_ = 0;
};

}  // namespace softnpu::kernel::check
