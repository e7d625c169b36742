#pragma once

#include <string>

namespace softnpu {

// Where files of compiled operators are written: ACL_OP_COMPILER_CACHE_DIR if ACL_OP_COMPILER_CACHE_MODE is "enable" or
// "force", else nowhere (an empty folder).
struct CacheFiles {
  std::string folder;
  bool is_forced = false;  // files that exist are written again
};
CacheFiles compile_cache_files();

}  // namespace softnpu
