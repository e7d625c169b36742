#include "graph/model/read_options.h"

#include <algorithm>
#include <functional>
#include <map>
#include <sstream>
#include <utility>

#include "base/text.h"

namespace softnpu::graph {
namespace {

Status wrong(std::string sentence) { return {ACL_ERROR_INVALID_PARAM, std::move(sentence)}; }

std::vector<std::string> parts_of(const std::string& words, char separator) {
  std::vector<std::string> parts;
  std::istringstream in(words);
  for (std::string part; std::getline(in, part, separator);) {
    if (!part.empty()) parts.push_back(part);
  }
  return parts;
}

// "name:1,3,224,224;other:1,8;scalar". Names may have colons.
Status read_sizes(const std::string& value, CompileOptions* out) {
  for (const std::string& one : parts_of(value, ';')) {
    const size_t colon = std::min(one.rfind(':'), one.size());
    if (colon == 0) return wrong(text("--input_shape: \"", one, "\" is not name:sizes"));
    std::vector<int64_t> sizes;
    for (const std::string& size : parts_of(one.substr(std::min(colon + 1, one.size())), ',')) {
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

Status read_precision(const std::string& value, CompileOptions* out) {
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
    out->allows_hf32 = true;
    out->note = text("precision mode ", value,
                     ": every value keeps its type; convolutions and products of float32 may have the precision of "
                     "HF32, which is more exact than float16");
  }
  return Status::ok();
}

Status read_format(const std::string& value, CompileOptions* /*out*/) {
  if (value == "NCHW" || value == "ND" || value == "NCDHW") return Status::ok();
  return wrong(text("--input_format=", value, ": models of ONNX have NCHW, NCDHW or ND"));
}

Status nothing(const std::string& /*value*/, CompileOptions* /*out*/) { return Status::ok(); }

using Read = std::function<Status(const std::string& value, CompileOptions* out)>;

struct Option {
  const char* key;  // that ge:: has for it; null: the same name
  Read read;
};

Read list_of(ListKind kind) {
  return [kind](const std::string& value, CompileOptions* out) { return read_list(kind, value, out); };
}

// By atc's names. Those that only choose kernels or files of an NPU's compiler change nothing here.
const std::map<std::string_view, Option>& table() {
  static const std::map<std::string_view, Option> options = {
      {"input_shape", {nullptr, read_sizes}},
      {"input_shape_range", {nullptr, read_ranges}},
      {"insert_op_conf",
       {"ge.insertOpFile",
        [](const std::string& value, CompileOptions* out) {
          out->aipp = value;
          return Status::ok();
        }}},
      {"dynamic_batch_size", {"ge.dynamicBatchSize", list_of(ListKind::kBatch)}},
      {"dynamic_image_size", {"ge.dynamicImageSize", list_of(ListKind::kImage)}},
      {"dynamic_dims", {"ge.dynamicDims", list_of(ListKind::kDims)}},
      {"input_format", {nullptr, read_format}},
      {"passes_off",
       {nullptr,
        [](const std::string& value, CompileOptions* out) {
          out->passes_off = parts_of(value, ',');
          return Status::ok();
        }}},
      {"out_nodes",
       {"ge.outputNodeName",
        [](const std::string& value, CompileOptions* out) {
          out->outputs = parts_of(value, ';');
          return Status::ok();
        }}},
      {"output_type", {"ge.outputDatatype", read_output_type}},
      {"precision_mode", {"ge.exec.precision_mode", read_precision}},
      {"precision_mode_v2", {"ge.exec.precision_mode_v2", read_precision}},
      {"soc_version", {"ge.socVersion", nothing}},
      {"op_select_implmode", {"ge.opSelectImplmode", nothing}},
      {"optypelist_for_implmode", {"ge.optypelistForImplmode", nothing}},
      {"enable_small_channel", {"ge.enableSmallChannel", nothing}},
      {"buffer_optimize", {"ge.bufferOptimize", nothing}},
      {"fusion_switch_file", {"ge.fusionSwitchFile", nothing}},
      {"auto_tune_mode", {"ge.autoTuneMode", nothing}},
      {"op_debug_level", {"ge.opDebugLevel", nothing}},
      {"debug_dir", {"ge.debugDir", nothing}},
      {"core_type", {"ge.engineType", nothing}},
      {"deterministic", {"ge.deterministic", nothing}},
      {"op_compiler_cache_mode", {"ge.op_compiler_cache_mode", nothing}},
      {"op_compiler_cache_dir", {"ge.op_compiler_cache_dir", nothing}},
      {"disable_reuse_memory", {"ge.exec.disableReuseMemory", nothing}},
  };
  return options;
}

}  // namespace

std::vector<std::string> compile_options() {
  std::vector<std::string> names;
  for (const auto& [name, option] : table()) names.emplace_back(name);
  return names;
}

std::string option_of_key(const std::string& key) {
  for (const auto& [name, option] : table()) {
    if (option.key == nullptr ? key == name : key == option.key) return std::string(name);
  }
  return {};
}

std::vector<std::string> option_keys() {
  std::vector<std::string> keys;
  for (const auto& [name, option] : table()) keys.emplace_back(option.key == nullptr ? name : option.key);
  return keys;
}

Status read_option(const std::string& name, const std::string& value, CompileOptions* out) {
  return table().at(name).read(value, out);
}

}  // namespace softnpu::graph
