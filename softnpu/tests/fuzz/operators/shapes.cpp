#include "fuzz/operators/shapes.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fuzz {

int64_t Numbers::edge() {
  static const std::vector<int64_t> kEnds = {INT64_MIN, INT64_MIN + 1, INT32_MIN, -1000,    -65, 64,
                                             65,        1000,          INT32_MAX, INT64_MAX};
  static const std::vector<int> kBits = {15, 16, 30, 31, 32, 33, 40, 56, 58, 59, 60, 61, 62};
  if (once_in(4)) return one_of(kEnds);
  const int64_t near = (int64_t{1} << one_of(kBits)) + static_cast<int64_t>(below(3)) - 1;
  return once_in(4) ? -near : near;
}

int64_t Numbers::huge() {
  static const std::vector<int> kBits = {31, 32, 40, 48, 56, 57, 58, 59, 60, 61, 62};
  return (int64_t{1} << one_of(kBits)) + static_cast<int64_t>(below(5)) - 2;
}

int64_t Numbers::integer() {
  if (once_in(16)) return edge();
  return static_cast<int64_t>(below(8)) - (once_in(3) ? 4 : 0);
}

double Numbers::real() {
  static const std::vector<double> kEdges = {-0.0,
                                             1e-300,
                                             -1e300,
                                             1e300,
                                             std::numeric_limits<double>::infinity(),
                                             -std::numeric_limits<double>::infinity(),
                                             std::numeric_limits<double>::quiet_NaN()};
  if (once_in(8)) return one_of(kEdges);
  return static_cast<double>(below(17)) / 4 - (once_in(4) ? 2 : 0);
}

aclDataType Numbers::dtype() {
  static const std::vector<aclDataType> kCommon = {ACL_FLOAT, ACL_FLOAT, ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_INT64};
  static const std::vector<aclDataType> kAll = {
      ACL_FLOAT,      ACL_FLOAT16,   ACL_INT8,   ACL_INT32,    ACL_UINT8,       ACL_INT16,        ACL_UINT16,
      ACL_UINT32,     ACL_INT64,     ACL_UINT64, ACL_DOUBLE,   ACL_BOOL,        ACL_COMPLEX64,    ACL_BF16,
      ACL_COMPLEX128, ACL_COMPLEX32, ACL_STRING, ACL_HIFLOAT8, ACL_FLOAT8_E5M2, ACL_FLOAT8_E4M3FN};
  return one_of(once_in(3) ? kAll : kCommon);
}

std::vector<int64_t> Numbers::sizes() {
  const uint32_t rank = once_in(24) ? 5 + below(8) : below(5);
  std::vector<int64_t> sizes(rank);
  for (int64_t& size : sizes) size = rank > 4 ? 1 + below(2) : once_in(12) ? 0 : 1 + below(6);
  if (rank == 2 && once_in(6)) sizes = {1 + below(70), 1 + below(70)};
  if (rank == 1 && once_in(6)) sizes[0] = below(3000);
  return sizes;
}

std::vector<int64_t> Numbers::related(const std::vector<int64_t>& sizes) {
  std::vector<int64_t> other = sizes;
  if (!once_in(3)) return other;
  const auto location = other.empty() ? 0 : below(static_cast<uint32_t>(other.size()));
  switch (below(8)) {
    case 0: return this->sizes();
    case 1: return {};
    case 2: std::ranges::reverse(other); break;
    case 3:
      if (!other.empty()) other[location] = 1;
      break;
    case 4:
      if (!other.empty()) other.erase(other.begin() + location);
      break;
    case 5: other.insert(other.begin(), 1 + below(3)); break;
    case 6:
      if (!other.empty()) other[location] += 1;
      break;
    default:
      if (!other.empty()) other = std::vector<int64_t>(1, other[location]);
      break;
  }
  return other;
}

}  // namespace fuzz
