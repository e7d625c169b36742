// The messages of ONNX, and files of them.

#include <fstream>

#include "base/text.h"
#include "graph/onnx/model.h"
#include "graph/onnx/wire.h"

namespace softnpu::graph::onnx {
namespace {

constexpr int kMaxNesting = 32;  // of graphs in attributes

class ModelReader {
 public:
  ModelReader(std::shared_ptr<const void> owner, const ExternalFiles& files)
      : owner_(std::move(owner)), files_(files) {}

  Status read(std::string_view message, Model* out) {
    Reader reader(message);
    while (reader.next()) {
      switch (reader.field()) {
        case 1: out->ir_version = reader.integer(); break;
        case 2: out->producer = reader.words(); break;
        case 7: SOFTNPU_RETURN_IF_ERROR(read_graph(reader.bytes(), &out->graph)); break;
        case 8: read_opset(reader.bytes(), &out->opsets); break;
        case 25: SOFTNPU_RETURN_IF_ERROR(read_function(reader.bytes(), &out->functions.emplace_back())); break;
        default: break;
      }
    }
    return checked(reader, "the model");
  }

 private:
  static Status checked(const Reader& reader, const std::string& what) {
    if (reader.is_ok()) return Status::ok();
    return {ACL_ERROR_PARSE_MODEL, what + " is damaged, or no ONNX: a field ends behind its message"};
  }

  static void read_opset(std::string_view message, std::map<std::string, int64_t>* out) {
    std::string domain;
    int64_t version = 0;
    Reader reader(message);
    while (reader.next()) {
      if (reader.field() == 1) domain = reader.words();
      if (reader.field() == 2) version = reader.integer();
    }
    (*out)[domain == "ai.onnx" ? "" : domain] = version;
  }

  Status read_graph(std::string_view message, GraphDef* out) {
    if (++nesting_ > kMaxNesting) return {ACL_ERROR_PARSE_MODEL, "graphs are nested too deeply"};
    Reader reader(message);
    while (reader.next()) {
      switch (reader.field()) {
        case 1: SOFTNPU_RETURN_IF_ERROR(read_node(reader.bytes(), &out->nodes.emplace_back())); break;
        case 2: out->name = reader.words(); break;
        case 5:
          SOFTNPU_RETURN_IF_ERROR(read_tensor(reader.bytes(), owner_, files_, &out->initializers.emplace_back()));
          break;
        case 11: SOFTNPU_RETURN_IF_ERROR(read_value(reader.bytes(), &out->inputs.emplace_back())); break;
        case 12: SOFTNPU_RETURN_IF_ERROR(read_value(reader.bytes(), &out->outputs.emplace_back())); break;
        case 15: return {ACL_ERROR_PARSE_MODEL, "sparse initializers are not implemented: store them dense"};
        default: break;
      }
    }
    --nesting_;
    return checked(reader, "the graph " + out->name);
  }

  Status read_node(std::string_view message, NodeDef* out) {
    Reader reader(message);
    while (reader.next()) {
      switch (reader.field()) {
        case 1: out->inputs.push_back(reader.words()); break;
        case 2: out->outputs.push_back(reader.words()); break;
        case 3: out->name = reader.words(); break;
        case 4: out->type = reader.words(); break;
        case 5: SOFTNPU_RETURN_IF_ERROR(read_attribute(reader.bytes(), &out->attributes.emplace_back())); break;
        case 7: out->domain = reader.words(); break;
        default: break;
      }
    }
    if (out->domain == "ai.onnx") out->domain.clear();
    return checked(reader, "the node " + out->name);
  }

  Status read_attribute(std::string_view message, Attribute* out) {
    Reader reader(message);
    while (reader.next()) {
      switch (reader.field()) {
        case 1: out->name = reader.words(); break;
        case 2: out->real = reader.real(); break;
        case 3: out->integer = reader.integer(); break;
        case 4: out->words = reader.words(); break;
        case 5: {
          auto tensor = std::make_shared<Tensor>();
          SOFTNPU_RETURN_IF_ERROR(read_tensor(reader.bytes(), owner_, files_, tensor.get()));
          out->tensor = std::move(tensor);
          break;
        }
        case 6: {
          auto graph = std::make_shared<GraphDef>();
          SOFTNPU_RETURN_IF_ERROR(read_graph(reader.bytes(), graph.get()));
          out->graph = std::move(graph);
          break;
        }
        case 7: reader.append(&out->reals); break;
        case 8: reader.append(&out->integers); break;
        case 9: out->strings.push_back(reader.words()); break;
        case 20: out->type = static_cast<int32_t>(reader.integer()); break;
        case 21: out->reference = reader.words(); break;
        default: break;
      }
    }
    return checked(reader, "the attribute " + out->name);
  }

  static Status read_value(std::string_view message, ValueInfo* out) {
    Reader reader(message);
    while (reader.next()) {
      if (reader.field() == 1) out->name = reader.words();
      if (reader.field() != 2) continue;
      Reader type(reader.bytes());
      while (type.next()) {
        if (type.field() == 1) read_tensor_type(type.bytes(), out);
      }
    }
    return checked(reader, "the value " + out->name);
  }

  static void read_tensor_type(std::string_view message, ValueInfo* out) {
    out->is_tensor = true;
    Reader reader(message);
    while (reader.next()) {
      if (reader.field() == 1) out->dtype = static_cast<int32_t>(reader.integer());
      if (reader.field() != 2) continue;
      out->has_shape = true;
      Reader shape(reader.bytes());
      while (shape.next()) {
        if (shape.field() != 1) continue;
        int64_t size = -1;
        std::string name;
        Reader dim(shape.bytes());
        while (dim.next()) {
          if (dim.field() == 1) size = dim.integer();
          if (dim.field() == 2) name = dim.words();
        }
        out->dims.push_back(size);
        out->names.push_back(std::move(name));
      }
    }
  }

  Status read_function(std::string_view message, FunctionDef* out) {
    Reader reader(message);
    while (reader.next()) {
      switch (reader.field()) {
        case 1: out->name = reader.words(); break;
        case 4: out->inputs.push_back(reader.words()); break;
        case 5: out->outputs.push_back(reader.words()); break;
        case 7: SOFTNPU_RETURN_IF_ERROR(read_node(reader.bytes(), &out->nodes.emplace_back())); break;
        case 9: read_opset(reader.bytes(), &out->opsets); break;
        case 10: out->domain = reader.words(); break;
        case 11: {
          Attribute attribute;
          SOFTNPU_RETURN_IF_ERROR(read_attribute(reader.bytes(), &attribute));
          out->defaults[attribute.name] = attribute;
          break;
        }
        default: break;
      }
    }
    return checked(reader, "the function " + out->name);
  }

  std::shared_ptr<const void> owner_;
  const ExternalFiles& files_;
  int nesting_ = 0;
};

}  // namespace

Status read_model(std::string_view message, std::shared_ptr<const void> owner, const ExternalFiles& files, Model* out) {
  SOFTNPU_RETURN_IF_ERROR(ModelReader(std::move(owner), files).read(message, out));
  if (out->graph.nodes.empty() && out->graph.outputs.empty()) {
    return {ACL_ERROR_PARSE_MODEL, "this is no model of ONNX: it has no graph"};
  }
  return Status::ok();
}

Status read_model_file(const std::string& path, Model* out, Bytes* whole, ExternalData* external) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file.is_open()) return {ACL_ERROR_INVALID_FILE, text("the file ", path, " cannot be read")};
  auto bytes = std::make_shared<std::vector<char>>(static_cast<size_t>(file.tellg()));
  file.seekg(0);
  file.read(bytes->data(), static_cast<std::streamsize>(bytes->size()));
  if (!file) return {ACL_ERROR_INVALID_FILE, text("the file ", path, " cannot be read")};
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash == 0 ? 1 : slash);
  const std::string_view message(bytes->data(), bytes->size());
  if (whole != nullptr) *whole = {message.data(), message.size(), bytes};
  const Status status = read_model(message, std::move(bytes), {folder, external}, out);
  return status.is_ok() ? Status::ok() : Status(status.code(), text(path, ": ", status.message()));
}

}  // namespace softnpu::graph::onnx
