#include "ascendc/launch/block.h"

#include <exception>

#include "ascendc/launch/arena.h"
#include "ascendc/launch/fault.h"
#include "ascendc/launch/launch.h"
#include "ascendc/launch/trap.h"
#include "ascendc/sanitizer/run.h"

namespace softnpu::kernel {
namespace {

constinit thread_local Block* current __attribute__((tls_model("initial-exec"))) = nullptr;

// "kernel add, block 3, add.cpp:17: DataCopy: <sentence>"
std::string report(const Block& block, const char* name, const std::source_location& where,
                   const std::string& sentence) {
  std::string text = std::string("kernel ") + block.kernel + ", block " + std::to_string(block.number);
  if (where.line() != 0) text += std::string(", ") + where.file_name() + ":" + std::to_string(where.line());
  text += ": ";
  if (name[0] != '\0') text += std::string(name) + ": ";
  return text + sentence;
}

// The report of what has no line of its own: the last action's.
std::string report_last(const Block& block, const std::string& sentence) {
  return report(block, "", last_action.where,
                sentence + (last_action.name[0] == '\0' ? std::string(" before the first instruction")
                                                        : std::string(" in or behind ") + last_action.name));
}

}  // namespace

constinit thread_local LastAction last_action __attribute__((tls_model("initial-exec")));

Block* current_block() { return current; }

std::string run_block(const softnpuKernel& kernel, uint32_t index, uint32_t count, const void* arguments,
                      Launch* launch, check::CheckedLaunch* checks, bool* is_spent) {
  static thread_local const Arena arena;
  static uint8_t system_workspace[8];  // nothing reads or writes it
  Block block{};
  block.index = index;
  block.number = index;
  block.count = count;
  block.kernel = kernel.name;
  block.tiling_key = kernel.tiling_key;
  block.workspace = system_workspace;
  block.launch = launch;
  if (launch != nullptr) launch->assign(index, &block);
  arena.assign(&block);
  current = &block;
  last_action = {};
  std::string failure;
  const std::string signal = run_trapped(reinterpret_cast<const void*>(kernel.run), [&] {
    try {
      if (checks != nullptr)
        check::run_checked(kernel, block, arguments, checks);
      else
        kernel.run(arguments);
    } catch (const EndOfBlock&) {  // nothing is wrong
    } catch (const Fault& fault) {
      failure = fault.what();
    } catch (const std::exception& e) {
      failure = report_last(block, std::string("exception ") + e.what());
    } catch (...) {
      failure = report_last(block, "exception");
    }
  });
  current = nullptr;
  if (signal.empty()) return failure;
  *is_spent = true;
  if (checks != nullptr) check::abandon(checks);
  return report_last(block, signal);
}

namespace {

[[noreturn]] void fail_as(check::Check check, const char* sentence, const std::source_location& where) {
  check::refuse(check, sentence, where);
  const Block* block = current_block();
  if (block != nullptr) throw Fault(report(*block, "", where, sentence));
  throw Fault(std::string("outside of a kernel, ") + where.file_name() + ":" + std::to_string(where.line()) + ": " +
              sentence);
}

}  // namespace

void fail(const char* sentence, const std::source_location& where) {
  fail_as(check::Check::kMemcheck, sentence, where);
}

void fail_order(const char* sentence, const std::source_location& where) {
  fail_as(check::Check::kSynccheck, sentence, where);
}

}  // namespace softnpu::kernel
