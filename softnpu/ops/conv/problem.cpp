#include "ops/conv/problem.h"

#include <span>

#include "base/text.h"
#include "ops/describe.h"
#include "ops/dtype.h"

namespace softnpu {
namespace {

std::string shape(int64_t first, int64_t second, const Triple& sizes, size_t dims) {
  Dims all = {first, second};
  for (size_t i = 3 - dims; i < 3; ++i) all.push_back(sizes[i]);
  return describe_shape(std::span<const int64_t>(all.data(), all.size()));
}

}  // namespace

double ConvProblem::flops() const {
  return 2.0 * static_cast<double>(batch * out.channels) * static_cast<double>(out.positions()) *
         static_cast<double>(in_channels() * filter.places() + 1);
}

std::string describe(const ConvProblem& p) {
  const char* name = name_of(p.dtype);
  return text("(", name, shape(p.batch, p.in.channels, p.in.sizes, p.dims), " and ", name,
              shape(p.batch, p.out.channels, p.out.sizes, p.dims), " by ", name,
              shape(p.out.channels, p.in_channels(), p.filter.sizes, p.dims), ", groups ", p.groups, ")");
}

}  // namespace softnpu
