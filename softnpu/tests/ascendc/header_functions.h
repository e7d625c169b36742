#pragma once
// The functions that a header of Ascend C declares for kernels, found by reading its text.

#include <set>
#include <string>
#include <vector>

struct HeaderFunction {
  std::string name;        // "Add", or "operator+"
  std::string head;        // the text before the body: template parameters, type, parameters
  std::string parameters;  // of the head
};

// Functions without a result at namespace AscendC or outside of namespaces, those that macros make, and the operators
// of tensors. What is in other namespaces is for the headers alone; what has a result computes for the scalar unit.
std::vector<HeaderFunction> functions_of(const std::string& header);

// The forms of masks that the parameters tell of: count, mask, bits, core, counter.
std::set<std::string> masks_of(const HeaderFunction& function);
