#pragma once
// Compiles a file of ONNX to a .om: what the program atc does.

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "graph/model/list_kind.h"

namespace softnpu::graph {

struct CompileOptions {
  std::string model;                                        // path of the .onnx
  std::string output;                                       // path of the .om
  std::map<std::string, std::vector<int64_t>> input_sizes;  // -1: a run gives it
  ListKind list_kind = ListKind::kNone;
  std::vector<std::vector<int64_t>> list;            // of sizes for the open ones
  std::vector<std::string> outputs;                  // "name of a node:index" or names of values; empty: the model's
  aclDataType output_dtype = ACL_DT_UNDEFINED;       // that all other outputs are cast to
  std::map<std::string, aclDataType> output_dtypes;  // of some outputs, named as in `outputs`
  bool allows_hf32 = false;             // convolutions and products of float32 may have the precision of HF32
  std::string aipp;                     // path of a description of preprocessing
  std::vector<std::string> passes_off;  // names of passes that do not run; "all"
  std::string note;                     // what an option does not change; "" if there is nothing to say
  // Gets the text of the graph before the first pass and after each.
  std::function<void(std::string_view pass, const std::string& graph)> dump;
};

struct CompileReport {
  size_t nodes = 0;         // of the model
  size_t operators = 0;     // that run
  size_t work_bytes = 0;    // device memory of a run
  size_t weight_bytes = 0;  // device memory of the model
};

// A serialized model of ONNX as the bytes of a .om, on the current device.
Status compile_bytes(const void* model, size_t bytes, std::string* out);

// A model in memory: fails if it is no model of ONNX, or if operators are missing, which the error all names.
ACL_FUNC_VISIBILITY Status check_model_bytes(std::string_view onnx);
// Compiles it to the bytes of a .om, on the current device, or on device 0 if there is none. Of the options `model`, by
// which errors name it, is no path, and `output` has no meaning.
ACL_FUNC_VISIBILITY Status compile_model_bytes(std::string_view onnx, const CompileOptions& options,
                                               CompileReport* report, std::string* om);

// Uses device 0, on which every operator is planned: what compiles can be loaded and run.
ACL_FUNC_VISIBILITY Status compile_model(const CompileOptions& options, CompileReport* report);

}  // namespace softnpu::graph
