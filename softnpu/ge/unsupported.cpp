// Functions of ge:: that programs are linked with and that are not implemented: graphs that are built operator by
// operator, and sessions that run them. Only their names are known here. A call throws an exception that says so: what
// a function returns and whether it could report an error is the caller's knowledge.

#include <cxxabi.h>

#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>

#include "base/text.h"
#include "base/unsupported.h"

namespace {

[[noreturn]] void fail(const char* symbol) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(abi::__cxa_demangle(symbol, nullptr, nullptr, &status),
                                                         &std::free);
  const std::string sentence = "graphs are not built operator by operator through ge::: export the model as ONNX";
  const std::string words = status == 0 ? std::string(name.get()) : std::string(symbol);
  (void)softnpu::unsupported(words.c_str(), sentence.c_str());
  throw std::runtime_error(softnpu::text(words, ": ", sentence));
}

}  // namespace

#define UNSUPPORTED(symbol)                     \
  extern "C" ACL_FUNC_VISIBILITY void symbol(); \
  void symbol() { fail(#symbol); }
#include "ge/unsupported.inc"
#undef UNSUPPORTED
