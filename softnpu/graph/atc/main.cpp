// atc: compiles a model of ONNX to a .om for aclmdlLoadFromFile, or operators to single-operator models.

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>

#include "base/text.h"
#include "graph/model/compile.h"
#include "graph/model/describe.h"
#include "graph/model/single_operators.h"

using softnpu::Status;
using softnpu::text;
using softnpu::graph::CompileOptions;
using softnpu::graph::CompileReport;
using softnpu::graph::ListKind;

namespace {

struct Arguments {
  CompileOptions compile;
  std::string framework;
  std::string mode = "0";
  std::string singleop;  // operators in JSON
  std::string om;        // a model that is shown
  std::string json;      // a file for it
  std::string report;    // a file for a check
  std::string note;      // what an option does not change
};

Status wrong(std::string sentence) { return {ACL_ERROR_INVALID_PARAM, std::move(sentence)}; }

std::vector<std::string> parts_of(const std::string& words, char separator) {
  std::vector<std::string> parts;
  std::istringstream in(words);
  for (std::string part; std::getline(in, part, separator);) {
    if (!part.empty()) parts.push_back(part);
  }
  return parts;
}

// "name:1,3,224,224;other:1,8". Names may have colons.
Status read_sizes(const std::string& value, CompileOptions* out) {
  for (const std::string& one : parts_of(value, ';')) {
    const size_t colon = one.rfind(':');
    if (colon == std::string::npos || colon == 0) return wrong(text("--input_shape: \"", one, "\" is not name:sizes"));
    std::vector<int64_t> sizes;
    for (const std::string& size : parts_of(one.substr(colon + 1), ',')) {
      if (size == "-1") {
        sizes.push_back(-1);
        continue;
      }
      if (size.size() > 18 || size.find_first_not_of("0123456789") != std::string::npos) {
        return wrong(text("--input_shape: \"", size, "\" of ", one, " is no size"));
      }
      sizes.push_back(std::stoll(size));
    }
    out->input_sizes[one.substr(0, colon)] = std::move(sizes);
  }
  return Status::ok();
}

bool read_number(const std::string& words, int64_t* out) {
  if (words.empty() || words.size() > 18 || words.find_first_not_of("0123456789") != std::string::npos) return false;
  *out = std::stoll(words);
  return true;
}

// "name:[1~10,3,200~300,-1];other:[1,8]": sizes in a range are open. A run may give any size: the model is planned for
// each. Names may have colons.
Status read_ranges(const std::string& value, CompileOptions* out) {
  for (const std::string& one : parts_of(value, ';')) {
    const size_t colon = one.rfind(":[");
    if (colon == std::string::npos || colon == 0 || !one.ends_with("]")) {
      return wrong(text("--input_shape_range: \"", one, "\" is not name:[sizes]"));
    }
    std::vector<int64_t> sizes;
    for (const std::string& size : parts_of(one.substr(colon + 2, one.size() - colon - 3), ',')) {
      const size_t tilde = size.find('~');
      int64_t low = 0;
      int64_t high = 0;
      if (size == "-1") {
        sizes.push_back(-1);
        continue;
      }
      const std::string last = tilde == std::string::npos ? size : size.substr(tilde + 1);
      const bool is_open = last == "-1";
      if (!read_number(size.substr(0, tilde), &low) || (!is_open && !read_number(last, &high)) ||
          (!is_open && high < low)) {
        return wrong(text("--input_shape_range: \"", size, "\" of ", one, " is no size and no range low~high"));
      }
      sizes.push_back(!is_open && low == high ? low : -1);
    }
    out->input_sizes[one.substr(0, colon)] = std::move(sizes);
  }
  return Status::ok();
}

// "1,2,8" of batches; "224,224;448,448" of images; "1,128;2,64" of all open sizes.
Status read_list(ListKind kind, const std::string& value, CompileOptions* out) {
  if (out->list_kind != ListKind::kNone) return wrong("one list of sizes can be given");
  out->list_kind = kind;
  for (const std::string& entry : parts_of(value, kind == ListKind::kBatch ? ',' : ';')) {
    std::vector<int64_t>& sizes = out->list.emplace_back();
    for (const std::string& size : parts_of(entry, ',')) {
      if (size.size() > 18 || size.find_first_not_of("0123456789") != std::string::npos) {
        return wrong(text("\"", size, "\" is no size"));
      }
      sizes.push_back(std::stoll(size));
    }
    if (kind == ListKind::kImage && sizes.size() != 2) return wrong("--dynamic_image_size: pairs of height and width");
    if (sizes.size() != out->list[0].size()) return wrong("the entries of a list of sizes differ in length");
  }
  return out->list.empty() ? wrong("a list of sizes is empty") : Status::ok();
}

// "FP16", or "node:0:FP16;other:0:FP32" for single outputs.
Status read_output_type(const std::string& value, CompileOptions* out) {
  static const std::map<std::string_view, aclDataType> kTypes = {
      {"FP32", ACL_FLOAT}, {"FP16", ACL_FLOAT16}, {"UINT8", ACL_UINT8}, {"INT8", ACL_INT8}};
  for (const std::string& one : parts_of(value, ';')) {
    const size_t colon = one.rfind(':');
    const auto found = kTypes.find(std::string_view(one).substr(colon == std::string::npos ? 0 : colon + 1));
    if (found == kTypes.end()) {
      return wrong(
          text("--output_type=", value, ": FP32, FP16, UINT8 or INT8, for all outputs or as node:index:type;.."));
    }
    if (colon == std::string::npos) {
      out->output_dtype = found->second;
    } else {
      out->output_dtypes[one.substr(0, colon)] = found->second;
    }
  }
  return Status::ok();
}

Status read_precision(const std::string& value, Arguments* out) {
  static const std::map<std::string_view, bool> kKeepsPrecision = {{"force_fp32", true},
                                                                   {"must_keep_origin_dtype", true},
                                                                   {"origin", true},
                                                                   {"allow_fp32_to_fp16", false},
                                                                   {"allow_mix_precision", false},
                                                                   {"force_fp16", false},
                                                                   {"fp16", false},
                                                                   {"mixed_float16", false},
                                                                   {"cube_fp16in_fp32out", false},
                                                                   {"allow_mix_precision_fp16", false},
                                                                   {"allow_mix_precision_bf16", false}};
  const auto found = kKeepsPrecision.find(value);
  if (found == kKeepsPrecision.end()) return wrong(text("there is no precision mode ", value));
  if (!found->second) {
    out->compile.allows_hf32 = true;
    out->note = text("precision mode ", value,
                     ": every value keeps its type; convolutions and products of float32 may have the precision of "
                     "HF32, which is more exact than float16");
  }
  return Status::ok();
}

// A file that gets the graph before the first pass and after each; "-": the standard output.
Status read_dump(const std::string& path, Arguments* out) {
  if (path == "-") {
    out->compile.dump = [](std::string_view pass, const std::string& graph) {
      std::cout << "# " << pass << "\n" << graph;
    };
    return Status::ok();
  }
  auto file = std::make_shared<std::ofstream>(path);
  if (!file->good()) return wrong(text("--dump: the file ", path, " cannot be written"));
  out->compile.dump = [file](std::string_view pass, const std::string& graph) {
    *file << "# " << pass << "\n" << graph;
  };
  return Status::ok();
}

using Read = std::function<Status(const std::string& value, Arguments* out)>;

Status nothing(const std::string& /*value*/, Arguments* /*out*/) { return Status::ok(); }

// Options by their names. Those that only choose kernels or files of an NPU's compiler change nothing here.
const std::map<std::string_view, Read>& options() {
  static const std::map<std::string_view, Read> table = {
      {"model",
       [](const std::string& value, Arguments* out) {
         out->compile.model = value;
         return Status::ok();
       }},
      {"output",
       [](const std::string& value, Arguments* out) {
         out->compile.output = value;
         return Status::ok();
       }},
      {"framework",
       [](const std::string& value, Arguments* out) {
         out->framework = value;
         return Status::ok();
       }},
      {"mode",
       [](const std::string& value, Arguments* out) {
         out->mode = value;
         return Status::ok();
       }},
      {"soc_version", nothing},
      {"input_shape", [](const std::string& value, Arguments* out) { return read_sizes(value, &out->compile); }},
      {"input_shape_range", [](const std::string& value, Arguments* out) { return read_ranges(value, &out->compile); }},
      {"insert_op_conf",
       [](const std::string& value, Arguments* out) {
         out->compile.aipp = value;
         return Status::ok();
       }},
      {"singleop",
       [](const std::string& value, Arguments* out) {
         out->singleop = value;
         return Status::ok();
       }},
      {"om",
       [](const std::string& value, Arguments* out) {
         out->om = value;
         return Status::ok();
       }},
      {"json",
       [](const std::string& value, Arguments* out) {
         out->json = value;
         return Status::ok();
       }},
      {"check_report",
       [](const std::string& value, Arguments* out) {
         out->report = value;
         return Status::ok();
       }},
      {"dynamic_batch_size",
       [](const std::string& value, Arguments* out) { return read_list(ListKind::kBatch, value, &out->compile); }},
      {"dynamic_image_size",
       [](const std::string& value, Arguments* out) { return read_list(ListKind::kImage, value, &out->compile); }},
      {"dynamic_dims",
       [](const std::string& value, Arguments* out) { return read_list(ListKind::kDims, value, &out->compile); }},
      {"input_format",
       [](const std::string& value, Arguments*) {
         if (value == "NCHW" || value == "ND" || value == "NCDHW") return Status::ok();
         return wrong(text("--input_format=", value, ": models of ONNX have NCHW, NCDHW or ND"));
       }},
      {"log",
       [](const std::string& value, Arguments*) {
         for (const char* level : {"debug", "info", "warning", "error", "null"}) {
           if (value == level) return Status::ok();
         }
         return wrong(text("there is no log level ", value));
       }},
      {"passes_off",
       [](const std::string& value, Arguments* out) {
         out->compile.passes_off = parts_of(value, ',');
         return Status::ok();
       }},
      {"dump", [](const std::string& value, Arguments* out) { return read_dump(value, out); }},
      {"out_nodes",
       [](const std::string& value, Arguments* out) {
         out->compile.outputs = parts_of(value, ';');
         return Status::ok();
       }},
      {"output_type", [](const std::string& value, Arguments* out) { return read_output_type(value, &out->compile); }},
      {"precision_mode", read_precision},
      {"precision_mode_v2", read_precision},
      {"op_select_implmode", nothing},
      {"optypelist_for_implmode", nothing},
      {"enable_small_channel", nothing},
      {"buffer_optimize", nothing},
      {"fusion_switch_file", nothing},
      {"auto_tune_mode", nothing},
      {"op_debug_level", nothing},
      {"debug_dir", nothing},
      {"core_type", nothing},
      {"deterministic", nothing},
      {"op_compiler_cache_mode", nothing},
      {"op_compiler_cache_dir", nothing},
      {"disable_reuse_memory", nothing},
  };
  return table;
}

std::string known_options() {
  std::string list;
  for (const auto& [name, read] : options()) list += text(list.empty() ? "--" : ", --", name);
  return list;
}

Status read_arguments(int count, char** words, Arguments* out) {
  for (int i = 1; i < count; ++i) {
    const std::string_view word = words[i];
    if (!word.starts_with("--")) return wrong(text("\"", word, "\" is no option: they are --name=value"));
    const size_t equals = word.find('=');
    std::string value;
    if (equals != std::string_view::npos) {
      value = word.substr(equals + 1);
    } else if (i + 1 < count) {
      value = words[++i];
    } else {
      return wrong(text(word, " has no value"));
    }
    const std::string_view name = word.substr(2, equals == std::string_view::npos ? equals : equals - 2);
    const auto found = options().find(name);
    if (found == options().end())
      return wrong(text("the option --", name, " is not implemented; there are ", known_options()));
    SOFTNPU_RETURN_IF_ERROR(found->second(value, out));
  }
  return Status::ok();
}

Status check_arguments(const Arguments& arguments) {
  if (arguments.framework == "0") return wrong("--framework=0: models of Caffe are not read: convert them to ONNX");
  if (arguments.framework == "1") return wrong("--framework=1: models of MindSpore are not read: export them as ONNX");
  if (arguments.framework == "3")
    return wrong("--framework=3: models of TensorFlow are not read: convert them by tf2onnx");
  if (arguments.framework != "5") return wrong("--framework=5 (ONNX) is needed");
  if (arguments.compile.model.empty()) return wrong("--model is missing");
  if (arguments.compile.output.empty()) return wrong("--output is missing");
  return Status::ok();
}

Status write_text(const std::string& path, const std::string& words) {
  std::ofstream file(path, std::ios::trunc);
  file << words;
  file.close();
  return file.good() ? Status::ok() : wrong(text("the file ", path, " cannot be written"));
}

// Mode 1: a model as JSON.
Status write_json(const Arguments& arguments) {
  const std::string& model = arguments.om.empty() ? arguments.compile.model : arguments.om;
  if (model.empty()) return wrong("--mode=1: --om names a compiled model or one of ONNX, --json the file for it");
  if (arguments.json.empty()) return wrong("--mode=1: --json is missing");
  std::string json;
  SOFTNPU_RETURN_IF_ERROR(softnpu::graph::model_as_json(model, &json));
  return write_text(arguments.json, json);
}

// Mode 3: whether all operators are implemented.
Status check(const Arguments& arguments) {
  if (arguments.compile.model.empty()) return wrong("--model is missing");
  const std::string path = arguments.report.empty() ? "check_result.json" : arguments.report;
  std::string json;
  bool is_complete = false;
  SOFTNPU_RETURN_IF_ERROR(softnpu::graph::check_model(arguments.compile.model, &json, &is_complete));
  SOFTNPU_RETURN_IF_ERROR(write_text(path, json));
  return is_complete ? Status::ok() : wrong(text(arguments.compile.model, ": operators are missing, see ", path));
}

// Mode 6: what a compiled model is.
Status show(const Arguments& arguments) {
  if (arguments.om.empty()) return wrong("--mode=6: --om is missing");
  std::string words;
  SOFTNPU_RETURN_IF_ERROR(softnpu::graph::describe_compiled(arguments.om, &words));
  std::cout << words;
  return Status::ok();
}

Status compile(const Arguments& given);

Status run(int count, char** words) {
  Arguments arguments;
  SOFTNPU_RETURN_IF_ERROR(read_arguments(count, words, &arguments));
  if (arguments.mode == "0") return compile(arguments);
  if (arguments.mode == "1") return write_json(arguments);
  if (arguments.mode == "3") return check(arguments);
  if (arguments.mode == "6") return show(arguments);
  if (arguments.mode == "5") {
    return wrong(
        "--mode=5: dumps of CANN's graph engine are not read; --dump shows a graph, --mode=1 makes JSON of one");
  }
  return wrong(text("--mode=", arguments.mode, ": 0 compiles, 1 makes JSON of a model, 3 checks one, 6 shows a .om"));
}

// One model for each operator of a list.
Status compile_single(const Arguments& arguments) {
  if (arguments.compile.output.empty()) return wrong("--output is missing: the folder for the models");
  if (!arguments.compile.model.empty()) return wrong("--singleop and --model: one of both can be given");
  std::vector<std::string> files;
  SOFTNPU_RETURN_IF_ERROR(softnpu::graph::compile_operators(arguments.singleop, arguments.compile.output, &files));
  for (const std::string& file : files) std::cout << file << "\n";
  return Status::ok();
}

Status compile(const Arguments& given) {
  if (!given.singleop.empty()) return compile_single(given);
  Arguments arguments = given;
  SOFTNPU_RETURN_IF_ERROR(check_arguments(arguments));
  if (!arguments.compile.output.ends_with(".om")) arguments.compile.output += ".om";
  CompileReport report;
  SOFTNPU_RETURN_IF_ERROR(softnpu::graph::compile_model(arguments.compile, &report));
  if (!arguments.note.empty()) std::cout << arguments.note << "\n";
  std::cout << arguments.compile.output << ": " << report.operators << " operators from " << report.nodes << " nodes, "
            << report.weight_bytes << " bytes of weights, " << report.work_bytes << " of work memory\n";
  return Status::ok();
}

}  // namespace

int main(int count, char** words) {
  if (count == 1 || std::string_view(words[1]) == "--help" || std::string_view(words[1]) == "-h") {
    std::cout
        << "atc --model=FILE.onnx --framework=5 --output=FILE --soc_version=NAME [--input_shape=\"name:sizes;..\"]\n"
        << "atc --singleop=FILE.json --output=FOLDER --soc_version=NAME\n"
        << "options: " << known_options() << "\n";
    return count == 1 ? 1 : 0;
  }
  std::cout << "ATC start working now, please wait for a moment.\n";
  Status status;
  try {
    status = run(count, words);
  } catch (const std::exception& e) {
    status = {ACL_ERROR_INTERNAL_ERROR, e.what()};
  }
  if (status.is_ok()) {
    std::cout << "ATC run success\n";
    return 0;
  }
  std::cerr << "atc: " << status.message() << "\nATC run failed\n";
  return 1;
}
