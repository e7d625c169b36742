#pragma once
// Reads the headers of dumps (aclmdlSetDump). In libascend_dump_parser.

#include <stddef.h>

#include "acl/acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

// Writes what the dump `data`, a whole file of `length` bytes, holds as JSON to the file `jsonPath`: version,
// dump_time, op_name, input, output. Returns 0, or 1 if it is no dump of softnpu or if the file cannot be written.
ACL_FUNC_VISIBILITY int ParseDumpProtoToJson(const char* data, size_t length, const char* jsonPath);

#ifdef __cplusplus
}
#endif
