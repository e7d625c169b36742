#pragma once
// libjpeg's errors, which leave its functions by longjmp. A function that calls setjmp has no objects with destructors:
// those are members, or its caller's.

#include <jpeglib.h>
#include <csetjmp>
#include <cstddef>
#include <cstdio>
#include <string>

namespace softnpu {

struct JpegErrors {
  jpeg_error_mgr manager{};
  std::jmp_buf jump{};
  char message[JMSG_LENGTH_MAX] = {};

  jpeg_error_mgr* set_up() {
    jpeg_error_mgr* standard = jpeg_std_error(&manager);
    manager.error_exit = &leave;
    manager.emit_message = [](j_common_ptr info, int level) {
      if (level < 0) leave(info);  // a warning: the data are damaged
    };
    manager.output_message = [](j_common_ptr) {};
    return standard;
  }

 private:
  [[noreturn]] static void leave(j_common_ptr info) {
    auto* errors = reinterpret_cast<JpegErrors*>(info->err);  // its first member
    (*info->err->format_message)(info, errors->message);
    std::longjmp(errors->jump, 1);  // NOLINT(cert-err52-cpp): through C code only
  }
};

}  // namespace softnpu
