#include "sharing/other_process.h"

#include <sys/wait.h>
#include <unistd.h>
#include <csignal>
#include <cstdlib>
#include <iostream>

#include <array>

#include "acl/acl.h"

namespace sharing {
namespace {

constexpr uid_t kNobody = 65534;

}  // namespace

OtherProcess::OtherProcess(const std::string& role) {
  std::array<int, 2> input{};
  std::array<int, 2> output{};
  if (pipe(input.data()) != 0 || pipe(output.data()) != 0) std::abort();
  pid_ = fork();
  if (pid_ == 0) {
    dup2(input[0], STDIN_FILENO);
    dup2(output[1], STDOUT_FILENO);
    for (const int end : {input[0], input[1], output[0], output[1]}) close(end);
    execl("/proc/self/exe", "sharing", "--role", role.c_str(), nullptr);
    _exit(127);
  }
  close(input[0]);
  close(output[1]);
  to_ = fdopen(input[1], "w");
  from_ = fdopen(output[0], "r");
}

OtherProcess::~OtherProcess() {
  kill();
  std::fclose(to_);
  std::fclose(from_);
}

std::string OtherProcess::ask(const std::string& command) {
  std::fputs((command + "\n").c_str(), to_);
  std::fflush(to_);
  std::array<char, 1024> line{};
  if (std::fgets(line.data(), line.size(), from_) == nullptr) return "";
  std::string answer = line.data();
  return answer.substr(0, answer.find('\n'));
}

void OtherProcess::kill() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

int run_role(const std::string& role) {
  if (role.ends_with("-as-nobody") && setresuid(kNobody, kNobody, kNobody) != 0) return 1;
  (void)aclInit(nullptr);
  if (aclrtSetDevice(0) != ACL_SUCCESS) return 1;
  std::string line;
  while (std::getline(std::cin, line)) {
    std::istringstream arguments(line);
    std::string word;
    arguments >> word;
    const auto found = commands().find(word);
    std::cout << (found == commands().end() ? "no such command" : found->second(arguments)) << std::endl;
  }
  return 0;
}

}  // namespace sharing
