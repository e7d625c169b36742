#include "ascendc/sanitizer/run.h"

#include <atomic>
#include <exception>
#include <memory>

#include "ascendc/launch/fault.h"
#include "ascendc/sanitizer/core.h"

namespace softnpu::kernel {
namespace check {
namespace {

constinit thread_local Core* current = nullptr;
constinit thread_local CheckedLaunch* current_launch = nullptr;
std::atomic<const char* (*)()> launch_site{nullptr};

// The calling thread's core. Instructions outside of kernels have none.
Core& core(const std::source_location& where) {
  if (current == nullptr) fail("it is called outside of a kernel", where);
  return *current;
}

}  // namespace

std::string CheckedLaunch::finish(bool has_failed) {
  reports.add(races.finish());
  std::string first = reports.finish();
  if (timeline != nullptr) timeline->finish(kernel, launched, first.empty() && !has_failed);
  return first;
}

void CheckedLaunch::add_blocks(uint32_t count) {
  races.add_blocks(count);
  if (timeline != nullptr) timeline->add_blocks(count);
}

std::unique_ptr<CheckedLaunch> begin_launch(const softnpuKernel& kernel, uint32_t blocks, const void* arguments,
                                            size_t bytes) {
  if (!is_checked) return nullptr;
  std::string site;
  if (const auto say = launch_site.load(); say != nullptr) {
    const char* text = say();
    if (text != nullptr) site = text;
  }
  if (kernel.file != nullptr) {
    const std::string line = std::string(kernel.file) + ":" + std::to_string(kernel.line);
    site += site.empty() ? line : " (" + line + ")";
  }
  return std::make_unique<CheckedLaunch>(site, kernel.name, blocks, arguments, bytes);
}

void run_checked(const softnpuKernel& kernel, const Block& block, const void* arguments, CheckedLaunch* launch) {
  timeline::BlockTrace* const trace =
      launch->timeline == nullptr ? nullptr : launch->timeline->begin_block(block.number);
  const auto core = std::make_unique<Core>(block, settings(), &launch->memory, trace);
  current = core.get();
  current_launch = launch;
  std::exception_ptr failure;
  try {
    kernel.run(arguments);
    core->finish();
  } catch (const EndOfBlock&) {
    // The vector cores go on with what was begun here, and end it.
    try {
      core->drain();
    } catch (const Fault&) {
      if (core->reports().empty()) failure = std::current_exception();
    }
  } catch (const Fault&) {
    if (core->reports().empty()) failure = std::current_exception();
  } catch (...) {
    failure = std::current_exception();
  }
  current = nullptr;
  launch->races.end(block.number, core->take_accesses());
  launch->reports.add_ordering_lines(core->ordering_lines());
  launch->reports.add(std::move(core->reports()));
  if (failure) std::rethrow_exception(failure);
}

const char* settings_error() { return settings().error.empty() ? timeline::error() : settings().error.c_str(); }

void abandon(CheckedLaunch* launch) {
  if (current == nullptr) return;
  launch->reports.add(std::move(current->reports()));
  current = nullptr;
}

void before_sync_all() {
  if (current == nullptr) return;
  current->broadcast_and_promote(timeline::Step::Kind::kSyncAll);
  current_launch->races.sync_all(current->block(), current->take_accesses());
}
void before_signal(uint32_t block, uint32_t event) {
  if (current == nullptr) return;
  current->broadcast_and_promote(timeline::Step::Kind::kGiveSignal, uint64_t{block} << 32 | event);
  current_launch->races.set(current->block(), {block, event}, current->take_accesses());
}
void behind_signal(uint32_t block, uint32_t event) {
  if (current == nullptr) return;
  current->broadcast_and_promote(timeline::Step::Kind::kTakeSignal, uint64_t{block} << 32 | event);
  current_launch->races.wait(current->block(), {block, event}, current->take_accesses());
}

void refuse(Check check, const char* sentence, const std::source_location& where) {
  if (current != nullptr) current->refuse(check, sentence, where);
}

}  // namespace check

void issue_checked(const Instruction& instruction) { check::core(instruction.where).issue(instruction); }
void scalar_access_checked(const Memory& memory, uint64_t bytes, bool writes, const std::source_location& where) {
  check::core(where).scalar_access(memory, bytes, writes, where);
}
void set_flag_checked(Pipe from, Pipe to, int event, const std::source_location& where) {
  check::core(where).set_flag({from, to, event}, where);
}
void wait_flag_checked(Pipe from, Pipe to, int event, const std::source_location& where) {
  check::core(where).wait_flag({from, to, event}, where);
}
void barrier_checked(int pipe, const std::source_location& where) { check::core(where).barrier(pipe, where); }
void local_event_checked(LocalEvent event, const Memory& memory, const void* owner, const std::source_location& where) {
  check::core(where).local_event(event, memory, owner, where);
}

}  // namespace softnpu::kernel

void softnpuKernelSetLaunchSite(const char* (*site)(void)) { softnpu::kernel::check::launch_site.store(site); }
