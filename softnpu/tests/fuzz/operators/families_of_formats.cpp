// The rule for format casts: a plain tensor, and its sizes in blocks.

#include "fuzz/operators/family_rules.h"

namespace fuzz {
namespace {

int64_t up(int64_t size, int64_t chunk) { return (size + chunk - 1) / chunk; }

StorageShape images(const Sizes& s) { return {ACL_FORMAT_NC1HWC0, {s[0], up(s[1], 16), s[2], s[3], 16}}; }
StorageShape weights(const Sizes& s) {
  return {ACL_FORMAT_FRACTAL_Z, {up(s[1], 16) * s[2] * s[3], up(s[0], 16), 16, 16}};
}

StorageShape matrices(const Sizes& s, int64_t block) {
  Sizes storage_shape(s.begin(), s.end() - 2);
  storage_shape.insert(storage_shape.end(), {up(s.back(), block), up(s[s.size() - 2], 16), 16, block});
  return {ACL_FORMAT_FRACTAL_NZ, storage_shape};
}

StorageShape draw_blocks(const Sizes& s, Numbers& n) {
  switch (s.size() == 4 ? n.below(3) : 0) {
    case 1: return images(s);
    case 2: return weights(s);
    default: return matrices(s, n.one_of<int64_t>({2, 4, 8, 16, 32}));
  }
}

}  // namespace

Draft format_cast(const Caller& /*caller*/, Numbers& n) {
  Draft d;
  const Sizes sizes = some(n, n.one_of<size_t>({2, 3, 4, 4}), 1, 20);
  d.dtype = n.dtype();
  d.sizes["srcTensor"] = d.sizes["dstTensor"] = sizes;
  const uint32_t way = n.below(3);
  for (const char* role : {"srcTensor", "dstTensor"}) {
    const bool is_blocked_format = way == 2 || (way == 0) == (role[0] == 's');
    d.storage_shape[role] = is_blocked_format ? draw_blocks(sizes, n) : StorageShape{};
  }
  return d;
}

}  // namespace fuzz
