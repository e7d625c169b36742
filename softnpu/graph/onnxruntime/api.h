#pragma once
// ONNX Runtime's functions with its errors as exceptions, which end at the provider's border.

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "graph/onnxruntime/abi.h"

namespace softnpu::graph::ort {

class Failure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Api {
 public:
  // `minor` is that of ONNX Runtime's version 1.minor.
  Api(const void* const* table, int minor) : table_(table), minor_(minor) {}

  int minor() const { return minor_; }

  template <size_t kIndex, class Function>
  Function* operator()(Slot<kIndex, Function> /*slot*/) const {
    return reinterpret_cast<Function*>(const_cast<void*>(table_[kIndex]));
  }

  // Throws Failure with the status's message.
  void check(OrtStatus* status) const {
    if (status == nullptr) return;
    const std::string message = (*this)(get_error_message)(status);
    (*this)(release_status)(status);
    throw Failure(message);
  }

  // What a function with one result gives.
  template <class Out, size_t kIndex, class From>
  Out get(Slot<kIndex, OrtStatus*(From, Out*)> slot, From from) const {
    Out out{};
    check((*this)(slot)(from, &out));
    return out;
  }
  // A list by its count and its elements.
  template <class From, class Item, size_t kCount, size_t kItems>
  std::vector<Item> list(Slot<kCount, OrtStatus*(From, size_t*)> count,
                         Slot<kItems, OrtStatus*(From, Item*, size_t)> items, From from) const {
    std::vector<Item> out(get(count, from));
    if (!out.empty()) check((*this)(items)(from, out.data(), out.size()));
    return out;
  }

  Api providers() const { return {(*this)(get_ep_api)(), minor_}; }

  // The status of `work`, which may throw.
  template <class Work>
  OrtStatus* guarded(Work&& work) const noexcept {
    try {
      std::forward<Work>(work)();
      return nullptr;
    } catch (const std::exception& error) {
      return (*this)(create_status)(kFail, error.what());
    }
  }

 private:
  const void* const* table_;
  int minor_;
};

inline void throw_if(const Status& status) {
  if (!status.is_ok()) throw Failure(status.message());
}

}  // namespace softnpu::graph::ort
