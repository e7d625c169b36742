#pragma once
// ge::Graph: here a model of ONNX that is to be compiled. Programs copy and destroy it by code of their own, which sees
// one shared pointer.

#include <memory>
#include <string>
#include <utility>

#include "acl/acl_base.h"

namespace ge {

struct GraphContent;

class Graph {
 public:
  Graph() = default;
  ACL_FUNC_VISIBILITY explicit Graph(const char* name);
  ACL_FUNC_VISIBILITY explicit Graph(const std::string& name);  // of both ABIs

  // Null if nothing was parsed into the graph.
  const std::shared_ptr<const GraphContent>& content() const { return content_; }
  void set_content(std::shared_ptr<const GraphContent> content) { content_ = std::move(content); }

 private:
  std::shared_ptr<const GraphContent> content_;
};

}  // namespace ge
