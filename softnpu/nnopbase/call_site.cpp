#include "nnopbase/call_site.h"

#include <string>
#include <utility>

#include "softnpu/call_site.h"

namespace {

thread_local std::string call_site;

}  // namespace

void softnpuSetCallSite(const char* site) {
  try {
    call_site = site == nullptr ? "" : site;
  } catch (const std::bad_alloc&) {
    call_site.clear();  // no memory for the text: the error does without it
  }
}

namespace softnpu {

Describe with_call_site(Describe describe) {
  if (call_site.empty()) return describe;
  return [describe = std::move(describe), site = call_site] { return describe() + ", called at " + site; };
}

}  // namespace softnpu
