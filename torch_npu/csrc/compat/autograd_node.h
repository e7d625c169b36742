#pragma once
// The owning pointer of autograd nodes. Up to torch 2.12 it is std::shared_ptr.

#include <torch/csrc/autograd/function.h>
#include <torch/version.h>

namespace torch_npu::compat {

#if TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR < 13
template <typename Node>
using NodePtr = std::shared_ptr<Node>;

template <typename Node>
NodePtr<Node> make_node() {
  return NodePtr<Node>(new Node(), torch::autograd::deleteNode);
}
#else
template <typename Node>
using NodePtr = c10::intrusive_ptr<Node>;

template <typename Node>
NodePtr<Node> make_node() {
  return c10::make_intrusive<Node>();
}
#endif

}  // namespace torch_npu::compat
