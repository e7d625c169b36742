#pragma once
// The file of SOFTNPU_KERNEL_TIMELINE: trace events in JSON, which Perfetto opens. Complete after each launch. Any
// thread.

#include <cstdint>
#include <cstdio>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ascendc/timeline/block_trace.h"
#include "ascendc/timeline/simulation.h"
#include "ascendc/timeline/summary.h"

namespace softnpu::kernel::timeline {

class TraceFile {
 public:
  // Opens `path` for writing, and begins with the figures.
  TraceFile(const std::string& path, const Figures& figures);
  // Why it could not be opened; empty otherwise.
  const std::string& error() const { return error_; }

  // A launch, behind those before it.
  void add(const Summary& summary, const Outcome& outcome, const std::vector<std::unique_ptr<BlockTrace>>& blocks,
           const Figures& figures);

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  void append(const std::string& events);  // with commas between, and none at the end
  void name_core(uint32_t core, std::string* events);

  std::string error_;
  std::mutex mutex_;  // guards all members below
  std::unique_ptr<std::FILE, Close> file_;
  std::set<uint32_t> named_;  // cores
  double begin_us_ = 0;       // of the next launch
};

}  // namespace softnpu::kernel::timeline
