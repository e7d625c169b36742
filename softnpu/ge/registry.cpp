// What programs tell ge:: when their libraries are loaded. This file is compiled for the ABI of std::string before
// C++11, which the programs have.
//
// Programs register how to create operators and to infer their shapes. ge:: creates no operators here, so nothing is
// kept, and OperatorFactory says that no operator exists.

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "base/no_destroy.h"
#include "ge/graph.h"

namespace ge {

class AscendString;
class Operator;

class OperatorCreatorRegister {
 public:
  ACL_FUNC_VISIBILITY OperatorCreatorRegister(const char* type,
                                              const std::function<Operator(const AscendString&)>& creator);
  ACL_FUNC_VISIBILITY OperatorCreatorRegister(const std::string& type,
                                              const std::function<Operator(const std::string&)>& creator);
};

OperatorCreatorRegister::OperatorCreatorRegister(const char* /*type*/,
                                                 const std::function<Operator(const AscendString&)>& /*creator*/) {}
OperatorCreatorRegister::OperatorCreatorRegister(const std::string& /*type*/,
                                                 const std::function<Operator(const std::string&)>& /*creator*/) {}

class InferShapeFuncRegister {
 public:
  ACL_FUNC_VISIBILITY InferShapeFuncRegister(const std::string& type,
                                             const std::function<uint32_t(Operator&)>& function);
};

InferShapeFuncRegister::InferShapeFuncRegister(const std::string& /*type*/,
                                               const std::function<uint32_t(Operator&)>& /*function*/) {}

class OperatorFactory {
 public:
  ACL_FUNC_VISIBILITY static bool IsExistOp(const char* type);
  ACL_FUNC_VISIBILITY static bool IsExistOp(const std::string& type);
};

bool OperatorFactory::IsExistOp(const char* /*type*/) { return false; }
bool OperatorFactory::IsExistOp(const std::string& /*type*/) { return false; }

// The texts of status codes, which programs add by code of their own.
class StatusFactory {
 public:
  ACL_FUNC_VISIBILITY static StatusFactory* Instance();

  std::map<uint32_t, std::string> texts;
};

StatusFactory* StatusFactory::Instance() {
  static softnpu::NoDestroy<StatusFactory> instance;  // programs use it until they end
  return &instance.get();
}

// Objects whose constructors fail: there is nothing to destroy.
class GraphBuffer {
 public:
  ACL_FUNC_VISIBILITY ~GraphBuffer();
};
GraphBuffer::~GraphBuffer() = default;

class Session {
 public:
  ACL_FUNC_VISIBILITY ~Session();
};
Session::~Session() = default;

// The engine is loaded when it is needed: there is nothing to do.
ACL_FUNC_VISIBILITY uint32_t GEInitialize(const std::map<std::string, std::string>& options);
ACL_FUNC_VISIBILITY uint32_t GEFinalize();

uint32_t GEInitialize(const std::map<std::string, std::string>& /*options*/) { return 0; }
uint32_t GEFinalize() { return 0; }

}  // namespace ge
