#include "core/autograd_threads.h"

#include <torch/csrc/autograd/engine.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "core/device.h"

namespace torch_npu {
namespace {

// PyTorch gives subclasses the queues, one for each of the engine's threads.
struct Engine : torch::autograd::Engine {
  static std::size_t threads(torch::autograd::Engine& engine) { return (engine.*&Engine::device_ready_queues_).size(); }
};

// The engine's threads that have Python's lock behind them: then they take their names. None where there is no /proc.
std::size_t named_threads() {
  std::size_t count = 0;
  std::error_code error;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task", error)) {
    std::string name;
    std::getline(std::ifstream(thread.path() / "comm"), name);
    if (name.starts_with("pt_autograd_")) ++count;
  }
  return count;
}

}  // namespace

void wait_for_autograd_threads() {
  if (in_bad_fork()) return;  // a forked process has none
  const std::size_t threads = Engine::threads(torch::autograd::Engine::get_default_engine());
  std::error_code error;
  if (threads == 0 || !std::filesystem::exists("/proc/self/task", error)) return;
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (named_threads() < threads && std::chrono::steady_clock::now() < limit) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace torch_npu
