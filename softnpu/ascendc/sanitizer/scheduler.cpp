#include "ascendc/sanitizer/scheduler.h"

#include <cstring>

namespace softnpu::kernel::check {
namespace {

// Beyond so many instructions what can go on does, in every schedule, so that memory stays bounded.
constexpr uint64_t kMaxPending = 1 << 16;

// Those that write global memory first: what they miss shows in the results.
constexpr Pipe kLateOrder[] = {Pipe::kMte3, Pipe::kFix, Pipe::kV, Pipe::kM, Pipe::kMte1, Pipe::kMte2};

}  // namespace

Scheduler::Scheduler(const Settings& settings, uint32_t block)
    : schedule_(settings.schedule),
      random_state_((settings.seed * 0x9e3779b97f4a7c15ULL + block * 0xbf58476d1ce4e5b9ULL) | 1),
      queues_(&executor_) {}

void Scheduler::Executor::run(Pipe, Stored& work) {
  const auto& instruction = *reinterpret_cast<const Instruction*>(work.bytes.get());
  instruction.execute(instruction);
}

void Scheduler::issue(const Instruction& instruction) {
  if (instruction.pipe == Pipe::kS || (schedule_ == Schedule::kEager && queues_.is_empty(instruction.pipe))) {
    instruction.execute(instruction);
    return;
  }
  auto bytes = std::make_unique_for_overwrite<std::byte[]>(instruction.bytes);
  std::memcpy(bytes.get(), static_cast<const void*>(&instruction), instruction.bytes);
  queues_.push_work(instruction.pipe, {std::move(bytes)});
  after_push();
}

void Scheduler::set_flag(const Flag& flag, const std::source_location& where) {
  queues_.push_set(flag, where);
  after_push();
}

void Scheduler::wait_flag(const Flag& flag, const std::source_location& where) {
  if (flag.to != Pipe::kS) {
    queues_.push_wait(flag, where);
    after_push();
    return;
  }
  while (!queues_.try_wait(flag)) {
    if (schedule_ == Schedule::kLate)
      advance_late(flag.from);
    else if (schedule_ == Schedule::kSeeded)
      random_step();
    else
      queues_.run_ready();
  }
}

void Scheduler::finish(Pipe pipe) {
  while (!queues_.is_empty(pipe)) {
    if (schedule_ == Schedule::kLate)
      advance_late(pipe);
    else if (schedule_ == Schedule::kSeeded)
      random_step();
    else
      queues_.run_ready();
  }
}

void Scheduler::drain() {
  if (schedule_ == Schedule::kEager) {
    queues_.run_ready();
  } else if (schedule_ == Schedule::kLate) {
    for (const Pipe pipe : kLateOrder) {
      while (!queues_.is_empty(pipe)) advance_late(pipe);
    }
  } else {
    while (queues_.pending() > 0) random_step();
  }
}

void Scheduler::after_push() {
  if (schedule_ == Schedule::kEager || queues_.pending() > kMaxPending) {
    queues_.run_ready();
  } else if (schedule_ == Schedule::kSeeded) {
    for (uint64_t steps = random() % 4; steps > 0; --steps) random_step();
  }
}

// One step of `pipe`, or of the pipe that has to go on before it can.
void Scheduler::advance_late(Pipe pipe) {
  while (const auto* wait = queues_.blocked(pipe)) pipe = wait->flag.from;
  queues_.step(pipe);
}

void Scheduler::random_step() { queues_.step(static_cast<Pipe>(random() % kPipes)); }

// xorshift64*
uint64_t Scheduler::random() {
  random_state_ ^= random_state_ >> 12;
  random_state_ ^= random_state_ << 25;
  random_state_ ^= random_state_ >> 27;
  return (random_state_ * 0x2545f4914f6cdd1dULL) >> 32;
}

}  // namespace softnpu::kernel::check
