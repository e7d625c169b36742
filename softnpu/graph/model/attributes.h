#pragma once
// The attributes of operators in files.

#include "ascendcl/op_attr.h"
#include "graph/model/bytes.h"

namespace softnpu::graph {

void put_attributes(Writer* writer, const aclopAttr& attributes);
// False if the bytes are no attributes.
bool read_attributes(Parser* parser, aclopAttr* out);

}  // namespace softnpu::graph
