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
#include "graph/model/read_options.h"
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
};

Status wrong(std::string sentence) { return {ACL_ERROR_INVALID_PARAM, std::move(sentence)}; }

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

// The options beside those of a compilation, by their names.
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
      {"log",
       [](const std::string& value, Arguments*) {
         for (const char* level : {"debug", "info", "warning", "error", "null"}) {
           if (value == level) return Status::ok();
         }
         return wrong(text("there is no log level ", value));
       }},
      {"dump", [](const std::string& value, Arguments* out) { return read_dump(value, out); }},
  };
  return table;
}

std::string known_options() {
  std::vector<std::string> names = softnpu::graph::compile_options();
  for (const auto& [name, read] : options()) names.emplace_back(name);
  std::ranges::sort(names);
  std::string list;
  for (const std::string& name : names) list += text(list.empty() ? "--" : ", --", name);
  return list;
}

Status read_arguments(int count, char** words, Arguments* out) {
  const std::vector<std::string> of_compilation = softnpu::graph::compile_options();
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
    if (const auto found = options().find(name); found != options().end()) {
      SOFTNPU_RETURN_IF_ERROR(found->second(value, out));
    } else if (std::ranges::binary_search(of_compilation, name)) {
      SOFTNPU_RETURN_IF_ERROR(softnpu::graph::read_option(std::string(name), value, &out->compile));
    } else {
      return wrong(text("the option --", name, " is not implemented; there are ", known_options()));
    }
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
  if (!arguments.compile.note.empty()) std::cout << arguments.compile.note << "\n";
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
