#pragma once
// A loaded model: one session, or one for each combination of sizes that was run of late.

#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "graph/model/om.h"
#include "graph/session/session.h"

namespace softnpu::graph {

class LoadedGraph {
 public:
  // An input or output; open sizes are -1. `bytes` are those of the largest entry of the list, 0 without a list.
  struct Tensor {
    std::string name;
    aclDataType dtype = ACL_FLOAT;
    Ints sizes;
    size_t bytes = 0;
  };

  static Status load(CompiledModel model, const Session::GivenMemory& memory, std::unique_ptr<LoadedGraph>* out);
  // What a model needs; 0 and 0 for one with open sizes, whose memory is its own.
  static Status query(const CompiledModel& model, size_t* work, size_t* weights);

  bool has_open_sizes() const { return source_.has_value(); }
  const std::vector<Tensor>& inputs() const { return inputs_; }
  const std::vector<Tensor>& outputs() const { return outputs_; }
  ListKind list_kind() const { return source_.has_value() ? source_->kind : ListKind::kNone; }
  const std::vector<Ints>& list() const;
  // The sizes of all inputs for an entry of the list.
  Status sizes_of(const Ints& entry, std::vector<Ints>* out) const;

  // The session for these sizes; `sizes` is empty if the model's are fixed.
  Status session(const std::vector<Ints>& sizes, std::shared_ptr<Session>* out);

 private:
  static constexpr size_t kMaxSessions = 8;

  Status open(const Session::GivenMemory& memory);
  // Gives constants that passes computed the bytes of equal ones in other sessions, which are then shared.
  void share_constants(Graph* graph);

  bool fuses_ = true;
  std::shared_ptr<const Graph> graph_;
  std::optional<Source> source_;
  onnx::Model model_;  // of the source
  std::vector<OpenTensor> open_inputs_;
  std::vector<Tensor> inputs_;
  std::vector<Tensor> outputs_;

  std::unordered_multimap<uint64_t, std::pair<Bytes, std::weak_ptr<const void>>> computed_;  // by their hashes
  SharedConstants constants_;  // of all sessions of a source

  std::mutex mutex_;                                                            // guards what follows
  std::list<std::pair<std::vector<Ints>, std::shared_ptr<Session>>> sessions_;  // the newest first
};

}  // namespace softnpu::graph
