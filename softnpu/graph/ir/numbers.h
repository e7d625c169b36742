#pragma once
// The elements of constants as numbers.

#include <vector>

#include "graph/ir/graph.h"

namespace softnpu::graph {

// Appends `value` in `dtype`, rounded to nearest; false if the type is none of numbers.
bool append_number(std::vector<char>* out, double value, aclDataType dtype);
// The elements of a constant in double precision; fails for types that are not numbers.
Status read_numbers(const Value& constant, std::vector<double>* out);
// The same of integers.
Status read_integers(const Value& constant, std::vector<int64_t>* out);

}  // namespace softnpu::graph
