#include "graph/lower/call.h"

#include <algorithm>

#include "base/text.h"

namespace softnpu::graph {

ValueId Call::in(size_t i) const {
  if (!has(i)) throw Refused(text("input ", i, " is missing"));
  return inputs_[i];
}

const onnx::Attribute* Call::attribute(std::string_view name) const {
  const auto found = std::ranges::find(node_.attributes, name, &onnx::Attribute::name);
  return found == node_.attributes.end() ? nullptr : &*found;
}

int64_t Call::integer(std::string_view name, int64_t otherwise) const {
  const onnx::Attribute* found = attribute(name);
  return found == nullptr ? otherwise : found->integer;
}

double Call::real(std::string_view name, double otherwise) const {
  const onnx::Attribute* found = attribute(name);
  return found == nullptr ? otherwise : found->real;
}

std::string Call::words(std::string_view name, const char* otherwise) const {
  const onnx::Attribute* found = attribute(name);
  return found == nullptr ? otherwise : found->words;
}

Ints Call::ints(std::string_view name) const {
  const onnx::Attribute* found = attribute(name);
  return found == nullptr ? Ints() : found->integers;
}

Ints Call::ints_at(size_t i, std::string_view name) { return has(i) ? builder_.ints_of(inputs_[i]) : ints(name); }

}  // namespace softnpu::graph
