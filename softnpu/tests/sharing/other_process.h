#pragma once
// A second process for tests of sharing: this program again, in a role. The test sends it a line and reads one back.

#include <sys/types.h>

#include <cstdio>
#include <map>
#include <sstream>
#include <string>

namespace sharing {

class OtherProcess {
 public:
  // Starts this program with the arguments `--role role`.
  explicit OtherProcess(const std::string& role);
  OtherProcess(const OtherProcess&) = delete;
  OtherProcess& operator=(const OtherProcess&) = delete;
  ~OtherProcess();

  pid_t pid() const { return pid_; }

  // The answer to `command`; empty if the process has ended.
  std::string ask(const std::string& command);

  // Ends it by SIGKILL and waits for that.
  void kill();

 private:
  pid_t pid_ = -1;
  std::FILE* to_ = nullptr;
  std::FILE* from_ = nullptr;
};

using Command = std::string (*)(std::istringstream& arguments);
using Commands = std::map<std::string, Command>;

// The commands that a process answers in `role`: it sets up device 0 first, as another user for roles that end in
// "-as-nobody".
const Commands& commands();

// Runs the role, until its input ends.
int run_role(const std::string& role);

}  // namespace sharing
