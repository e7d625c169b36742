// Models become files.

#include <fstream>

#include "ge/ir_build.h"
#include "ge/options.h"

namespace ge {

graphStatus aclgrphSaveModel(const char* output_file, const ModelBufferData& model) {
  return call("aclgrphSaveModel", [&] {
    SOFTNPU_RETURN_IF_ERROR(softnpu::require(output_file, "output_file"));
    SOFTNPU_RETURN_IF_ERROR(softnpu::require(model.data.get(), "the model"));
    std::string path = output_file;
    if (!path.ends_with(".om")) path += ".om";
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file.write(reinterpret_cast<const char*>(model.data.get()), static_cast<std::streamsize>(model.length));
    file.close();
    if (file.good()) return softnpu::Status::ok();
    return softnpu::Status(ACL_ERROR_WRITE_FILE, softnpu::text("the file ", path, " cannot be written"));
  });
}

}  // namespace ge
