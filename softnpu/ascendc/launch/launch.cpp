#include "ascendc/launch/launch.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "ascendc/launch/block.h"
#include "ascendc/launch/fault.h"
#include "ascendc/launch/kernel_threads.h"
#include "ascendc/launch/trap.h"
#include "ascendc/sanitizer/run.h"

namespace softnpu::kernel {
namespace {

// Signals of blocks from this number on are flags between cores.
constexpr uint32_t kCrossCore = uint32_t{1} << 31;

pid_t this_thread() {
  static thread_local const auto id = static_cast<pid_t>(syscall(SYS_gettid));
  return id;
}

}  // namespace

Launch::Launch(const softnpuKernel& kernel, uint32_t blocks, int threads, int32_t device, const void* arguments,
               size_t bytes)
    : kernel_(kernel),
      count_(blocks),
      threads_(static_cast<uint32_t>(std::max(threads, 1))),
      device_(device),
      arguments_(static_cast<const unsigned char*>(arguments), static_cast<const unsigned char*>(arguments) + bytes),
      checks_(check::begin_launch(kernel, blocks, arguments_.data(), arguments_.size())),
      total_(blocks) {}

void Launch::start(softnpuTurn* turn) {
  {
    std::lock_guard lock(turn_mutex_);
    turn_ = turn;
  }
  bool is_over = false;
  {
    std::lock_guard lock(mutex_);
    dispatch();
    is_over = ended_ == total_;
  }
  if (is_over) end();
}

void Launch::forget_turn() {
  std::lock_guard lock(turn_mutex_);
  turn_ = nullptr;
}

void Launch::dispatch() {
  while (running_ < threads_) {
    if (!ready_.empty()) {
      Waiter* waiter = ready_.front();
      ready_.pop_front();
      ++running_;
      waiter->go.release();
    } else if (next_ < total_) {
      if (!KernelThreads::get().post(shared_from_this(), next_)) {
        // Those that run take the other blocks.
        if (running_ == 0) fail(std::string("kernel ") + kernel_.name + ": no thread can be started for its blocks");
        return;
      }
      ++next_;
      ++running_;
    } else {
      break;
    }
  }
  if (running_ == 0 && !waiting_.empty()) fail_deadlock();
}

void Launch::fail(std::string why) {
  if (failure_.empty()) failure_ = std::move(why);
  ended_ += total_ - next_;
  next_ = total_;
  for (Waiter* waiter : waiting_) {
    waiter->is_hopeless = true;
    ready_.push_back(waiter);
  }
  waiting_.clear();
  dispatch();
}

void Launch::fail_deadlock() {
  const Waiter& first = *waiting_.front();
  const bool is_flag = first.signal != nullptr && first.signal->first >= kCrossCore;
  const char* name = first.signal == nullptr ? "SyncAll" : is_flag ? "CrossCoreWaitFlag" : "IBWait";
  fail(std::string("kernel ") + kernel_.name + ", block " + std::to_string(first.block) + ", " +
       first.where.file_name() + ":" + std::to_string(first.where.line()) + ": " + name + " waits for ever: " +
       std::to_string(waiting_.size()) + " blocks wait, the other " + std::to_string(ended_) + " have ended");
}

bool Launch::run(uint32_t block) {
  const auto self = shared_from_this();
  bool is_spent = false;
  std::unique_lock lock(mutex_);
  runners_.push_back(this_thread());
  while (true) {
    std::string why;
    if (failure_.empty()) {
      lock.unlock();
      why = run_block(kernel_, block, count_, arguments_.data(), this, checks_.get(), &is_spent);
      lock.lock();
    }
    ++ended_;
    --running_;
    if (!why.empty()) fail(std::move(why));
    if (is_spent || !ready_.empty() || next_ >= total_) break;
    block = next_++;
    ++running_;
  }
  runners_.erase(std::ranges::find(runners_, this_thread()));
  dispatch();
  const bool is_over = ended_ == total_ && running_ == 0;
  lock.unlock();
  if (is_over) end();
  return is_spent;
}

void Launch::end() {
  if (checks_ != nullptr) {
    std::string found = checks_->finish(!failure_.empty());
    if (!found.empty()) failure_ = std::move(found);  // what else failed may follow from it
  }
  has_ended_.store(true, std::memory_order_release);
  std::lock_guard lock(turn_mutex_);
  if (turn_ != nullptr) softnpuResume(turn_);
}

void Launch::park(std::unique_lock<std::mutex>* lock, Waiter* waiter) {
  --running_;
  dispatch();
  lock->unlock();
  waiter->go.acquire();
  if (waiter->is_hopeless) throw Fault("another block of the launch has failed");
}

void Launch::mix(uint32_t vector_cores, bool has_cube) {
  const std::lock_guard lock(mutex_);
  if (is_mixed_ || !failure_.empty()) return;
  is_mixed_ = true;
  vector_cores_ = vector_cores;
  total_ = vector_blocks() + (has_cube ? count_ : 0);
  if (checks_ != nullptr) checks_->add_blocks(total_ - count_);
  dispatch();
}

bool Launch::has_cube() {
  const std::lock_guard lock(mutex_);
  return total_ > vector_blocks();
}

void Launch::assign(uint32_t number, Block* block) {
  const std::lock_guard lock(mutex_);
  const bool is_cube = number >= vector_blocks();
  block->number = number;
  block->kind = is_cube ? CoreKind::kCube : CoreKind::kVector;
  block->index = is_cube ? number - vector_blocks() : number;
  block->vector_cores = vector_cores_;
}

void Launch::sync_all(Cores cores, const std::source_location& where) {
  std::unique_lock lock(mutex_);
  if (!failure_.empty()) throw Fault("another block of the launch has failed");
  Waiter self;
  self.block = current_block()->number;
  self.where = where;
  self.cores = cores;
  uint32_t& arrived = in_sync_all_[static_cast<int>(cores)];
  if (++arrived < (cores == Cores::kAll ? total_ : vector_blocks())) {
    waiting_.push_back(&self);
    return park(&lock, &self);
  }
  arrived = 0;
  for (auto it = waiting_.begin(); it != waiting_.end();) {
    if ((*it)->signal == nullptr && (*it)->cores == cores) {
      ready_.push_back(*it);
      it = waiting_.erase(it);
    } else {
      ++it;
    }
  }
  dispatch();
}

void Launch::set(uint32_t block, uint32_t event) {
  const Signal signal(block, event);
  std::lock_guard lock(mutex_);
  const auto it = std::ranges::find_if(waiting_, [&](const Waiter* w) { return w->signal && *w->signal == signal; });
  if (it == waiting_.end()) {
    ++set_[signal];
    return;
  }
  ready_.push_back(*it);
  waiting_.erase(it);
  dispatch();
}

void Launch::wait(uint32_t block, uint32_t event, const std::source_location& where) {
  const Signal signal(block, event);
  std::unique_lock lock(mutex_);
  if (!failure_.empty()) throw Fault("another block of the launch has failed");
  if (const auto it = set_.find(signal); it != set_.end() && it->second > 0) {
    --it->second;
    return;
  }
  Waiter self;
  self.block = current_block()->number;
  self.where = where;
  self.signal = &signal;
  waiting_.push_back(&self);
  park(&lock, &self);
}

void Launch::stop() {
  constexpr std::chrono::milliseconds kPause(1);
  constexpr std::chrono::seconds kLongest(2);
  {
    std::lock_guard lock(mutex_);
    if (ended_ < total_)
      fail(std::string("kernel ") + kernel_.name + " was stopped: its stream was aborted or its device reset");
  }
  const auto end = std::chrono::steady_clock::now() + kLongest;
  while (!has_ended() && std::chrono::steady_clock::now() < end) {
    {
      // Under the lock: the threads are still in run().
      std::lock_guard lock(mutex_);
      for (const pid_t thread : runners_) stop_trapped(thread);
    }
    std::this_thread::sleep_for(kPause);
  }
}

void sync_all(const std::source_location& where) {
  Launch* launch = current_block()->launch;
  if (launch == nullptr) return;
  if (current_block()->kind == CoreKind::kCube) {
    softnpu::kernel::fail("SyncAll waits for vector cores, and a cube core calls it: SyncAll<false> waits for both",
                          where);
  }
  check::before_sync_all();
  launch->sync_all(Launch::Cores::kVector, where);
}

void sync_all_cores(const std::source_location& where) {
  Launch* launch = current_block()->launch;
  if (launch == nullptr) return;
  check::before_sync_all();
  launch->sync_all(Launch::Cores::kAll, where);
}

void inter_block_set(uint32_t block, uint32_t event, const std::source_location&) {
  Launch* launch = current_block()->launch;
  if (launch == nullptr) return;
  check::before_signal(block, event);
  launch->set(block, event);
}

void inter_block_wait(uint32_t block, uint32_t event, const std::source_location& where) {
  Launch* launch = current_block()->launch;
  if (launch == nullptr) return;
  launch->wait(block, event, where);
  check::behind_signal(block, event);
}

void use_both_cores(uint32_t vector_cores, const std::source_location& where) {
  Block* block = current_block();
  if (block == nullptr) fail("it is called outside of a kernel", where);
  if (block->launch == nullptr) return;
  block->launch->mix(vector_cores, true);
  block->launch->assign(block->number, block);
}

void use_cube(const std::source_location& where) {
  Block* block = current_block();
  if (block == nullptr) fail("it is called outside of a kernel", where);
  if (block->launch == nullptr) return;
  constexpr uint32_t kVectorCores = 2;
  block->launch->mix(kVectorCores, false);
  block->launch->assign(block->number, block);
  if (block->kind == CoreKind::kCube) throw EndOfBlock();
}

}  // namespace softnpu::kernel
