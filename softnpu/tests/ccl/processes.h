#pragma once
// Ranks in processes of their own: each runs a program, a function of this executable.

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "hccl/hccl.h"

namespace ccl_test {

// What a rank's process knows. Its device 0 is set, its default stream the one to use.
struct Rank {
  uint32_t rank = 0;
  uint32_t ranks = 0;
  std::string argument;

  // A root info that rank 0 makes and all ranks return; each call another one, in the same order on all ranks. Rank 0
  // listens at it if `listens`.
  HcclRootInfo root_info(bool listens = true) const;
  // A communicator of all ranks. Ends the process on failure.
  HcclComm communicator() const;
};

// Fails the rank: prints `sentence` and ends the process.
[[noreturn]] void fail(const std::string& sentence);
// Ends the process unless `condition`; `what` is printed with the library's last error.
void require(bool condition, const std::string& what);

using Program = std::function<void(const Rank&)>;
// Makes `program` known as `name`; used at namespace scope.
struct Register {
  Register(const std::string& name, Program program);
};

struct Outcome {
  int status = -1;  // exit code; minus the signal's number; -1000 if it had to be killed
  std::string output;
};

// A job of several processes.
class Job {
 public:
  using Environment = std::map<std::string, std::string>;

  Job(const std::string& program, uint32_t ranks, const std::string& argument = "", const Environment& more = {});
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;
  ~Job();

  pid_t pid(uint32_t rank) const { return processes_[rank].pid; }
  // Waits until `rank` has printed `line`; false at the end of its output or after `longest`.
  bool wait_for(uint32_t rank, const std::string& line, std::chrono::seconds longest = std::chrono::seconds(60));
  // Waits for all ranks, kills those that are not done after `longest`, and returns what each did.
  std::vector<Outcome> finish(std::chrono::seconds longest = std::chrono::seconds(120));

 private:
  struct Process {
    pid_t pid = -1;
    int from = -1;      // its output
    int root_in = -1;   // root infos to it
    int root_out = -1;  // root infos from it
    bool is_waited_for = false;
    Outcome outcome;
  };

  // Reads what has come from all processes and forwards root infos, for at most `pause`.
  void pump(std::chrono::milliseconds pause);

  std::vector<Process> processes_;
};

// Runs the program that the arguments of main() name, if they do, and returns true.
bool run_as_rank(int argc, char** argv);

}  // namespace ccl_test
