#include "ccl/processes.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "acl/acl.h"
#include "softnpu/collectives.h"

extern char** environ;

namespace ccl_test {
namespace {

using Clock = std::chrono::steady_clock;

// The descriptors that a rank's process has for root infos.
constexpr int kRootIn = 3;
constexpr int kRootOut = 4;

std::map<std::string, Program>& programs() {
  static std::map<std::string, Program> known;
  return known;
}

void transfer(int fd, HcclRootInfo* info, bool writes) {
  auto* at = reinterpret_cast<char*>(info);
  for (size_t done = 0; done < sizeof *info;) {
    const ssize_t count = writes ? write(fd, at + done, sizeof *info - done) : read(fd, at + done, sizeof *info - done);
    require(count > 0, "the root info's pipe");
    done += static_cast<size_t>(count);
  }
}

}  // namespace

void fail(const std::string& sentence) {
  std::printf("FAILED: %s\n", sentence.c_str());
  std::fflush(stdout);
  _exit(1);
}

void require(bool condition, const std::string& what) {
  if (condition) return;
  const char* message = aclGetRecentErrMsg();
  fail(what + ": " + (message == nullptr ? "" : message));
}

HcclRootInfo Rank::root_info(bool listens) const {
  HcclRootInfo info;
  if (rank == 0) {
    const auto make = listens ? HcclGetRootInfo : softnpuMakeRootInfo;
    require(make(&info) == HCCL_SUCCESS, "a root info");
    transfer(kRootOut, &info, true);
  } else {
    transfer(kRootIn, &info, false);
  }
  return info;
}

HcclComm Rank::communicator() const {
  const HcclRootInfo info = root_info();
  HcclComm comm = nullptr;
  require(HcclCommInitRootInfo(ranks, &info, rank, &comm) == HCCL_SUCCESS, "HcclCommInitRootInfo");
  return comm;
}

Register::Register(const std::string& name, Program program) { programs()[name] = std::move(program); }

bool run_as_rank(int argc, char** argv) {
  if (argc != 6 || std::strcmp(argv[1], "--rank") != 0) return false;
  Rank rank;
  const std::string program = argv[2];
  rank.rank = static_cast<uint32_t>(std::atoi(argv[3]));
  rank.ranks = static_cast<uint32_t>(std::atoi(argv[4]));
  rank.argument = argv[5];
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  require(aclInit(nullptr) == ACL_SUCCESS, "aclInit");
  require(aclrtSetDevice(0) == ACL_SUCCESS, "aclrtSetDevice");
  programs().at(program)(rank);
  return true;
}

Job::Job(const std::string& program, uint32_t ranks, const std::string& argument, const Environment& more)
    : processes_(ranks) {
  Environment wanted = {{"SOFTNPU_DEVICE_COUNT", "1"}, {"SOFTNPU_HBM", "256M"}};
  for (const auto& [name, value] : more) wanted[name] = value;
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (wanted.count(text.substr(0, text.find('='))) == 0) environment.push_back(text);
  }
  for (const auto& [name, value] : wanted) environment.push_back(name + "=" + value);
  std::vector<char*> environment_pointers;
  for (std::string& entry : environment) environment_pointers.push_back(entry.data());
  environment_pointers.push_back(nullptr);
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    Process& process = processes_[rank];
    std::array<std::array<int, 2>, 3> pipes{};  // output, root infos in, root infos out
    for (auto& ends : pipes) require(pipe2(ends.data(), O_CLOEXEC) == 0, "pipe2");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    // By way of high numbers: a source may have a target's number.
    const std::array<int, 3> sources = {fcntl(pipes[0][1], F_DUPFD_CLOEXEC, 100),
                                        fcntl(pipes[1][0], F_DUPFD_CLOEXEC, 100),
                                        fcntl(pipes[2][1], F_DUPFD_CLOEXEC, 100)};
    posix_spawn_file_actions_adddup2(&actions, sources[0], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, sources[1], kRootIn);
    posix_spawn_file_actions_adddup2(&actions, sources[2], kRootOut);
    std::vector<std::string> words = {"/proc/self/exe",      "--rank", program, std::to_string(rank),
                                      std::to_string(ranks), argument};
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    const int failed =
        posix_spawn(&process.pid, "/proc/self/exe", &actions, nullptr, pointers.data(), environment_pointers.data());
    posix_spawn_file_actions_destroy(&actions);
    for (const int source : sources) close(source);
    close(pipes[0][1]);
    close(pipes[1][0]);
    close(pipes[2][1]);
    require(failed == 0, "posix_spawn");
    process.from = pipes[0][0];
    process.root_in = pipes[1][1];
    process.root_out = pipes[2][0];
    for (const int fd : {process.from, process.root_out}) fcntl(fd, F_SETFL, O_NONBLOCK);
  }
}

void Job::pump(std::chrono::milliseconds pause) {
  std::vector<pollfd> files;
  for (const Process& process : processes_) files.push_back({process.from, POLLIN, 0});
  files.push_back({processes_.front().root_out, POLLIN, 0});
  poll(files.data(), files.size(), static_cast<int>(pause.count()));
  std::array<char, 4096> part;
  for (Process& process : processes_) {
    ssize_t count = 0;
    while (process.from >= 0 && (count = read(process.from, part.data(), part.size())) > 0) {
      process.outcome.output.append(part.data(), static_cast<size_t>(count));
    }
    if (count == 0 && process.from >= 0) {
      close(process.from);
      process.from = -1;
    }
  }
  Process& first = processes_.front();
  ssize_t count = 0;
  while (first.root_out >= 0 && (count = read(first.root_out, part.data(), part.size())) > 0) {
    for (uint32_t rank = 1; rank < processes_.size(); ++rank) {
      [[maybe_unused]] const auto written = write(processes_[rank].root_in, part.data(), static_cast<size_t>(count));
    }
  }
  if (count == 0 && first.root_out >= 0) {
    close(first.root_out);
    first.root_out = -1;
  }
}

bool Job::wait_for(uint32_t rank, const std::string& line, std::chrono::seconds longest) {
  const auto end = Clock::now() + longest;
  while (processes_[rank].outcome.output.find(line + "\n") == std::string::npos) {
    if (processes_[rank].from < 0 || Clock::now() > end) return false;
    pump(std::chrono::milliseconds(20));
  }
  return true;
}

std::vector<Outcome> Job::finish(std::chrono::seconds longest) {
  const auto end = Clock::now() + longest;
  bool is_late = false;
  while (true) {
    bool all = true;
    for (Process& process : processes_) {
      if (process.is_waited_for) continue;
      int status = 0;
      if (waitpid(process.pid, &status, WNOHANG) == process.pid) {
        process.is_waited_for = true;
        process.outcome.status = is_late ? -1000 : WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
      }
      all = all && process.is_waited_for;
    }
    pump(std::chrono::milliseconds(all ? 0 : 10));
    if (all) break;
    if (!is_late && Clock::now() > end) {
      is_late = true;
      for (const Process& process : processes_) {
        if (!process.is_waited_for) kill(process.pid, SIGKILL);
      }
    }
  }
  std::vector<Outcome> outcomes;
  for (const Process& process : processes_) outcomes.push_back(process.outcome);
  return outcomes;
}

Job::~Job() {
  for (Process& process : processes_) {
    if (process.pid > 0 && !process.is_waited_for) {
      kill(process.pid, SIGKILL);
      waitpid(process.pid, nullptr, 0);
    }
    for (const int fd : {process.from, process.root_in, process.root_out}) {
      if (fd >= 0) close(fd);
    }
  }
}

}  // namespace ccl_test
