// The blocked formats as formulas of sizes and indices.

#include "format/cast_fixture.h"

namespace format_test {
namespace {

Format images(aclFormat format, const char* name, int64_t block) {
  return {format, name, block,
          [](const Letters& s, int64_t c0) -> Dims {
            return {s.at('N'), up(s.at('C'), c0), s.at('H'), s.at('W'), c0};
          },
          [](const Letters& s, const Letters& at, int64_t c0) {
            const int64_t c1 = up(s.at('C'), c0);
            return (((at.at('N') * c1 + at.at('C') / c0) * s.at('H') + at.at('H')) * s.at('W') + at.at('W')) * c0 +
                   at.at('C') % c0;
          }};
}

Format volumes() {
  return {ACL_FORMAT_NDC1HWC0, "NDC1HWC0", 16,
          [](const Letters& s, int64_t c0) -> Dims {
            return {s.at('N'), s.at('D'), up(s.at('C'), c0), s.at('H'), s.at('W'), c0};
          },
          [](const Letters& s, const Letters& at, int64_t c0) {
            const int64_t image = (at.at('N') * s.at('D') + at.at('D')) * up(s.at('C'), c0) + at.at('C') / c0;
            return ((image * s.at('H') + at.at('H')) * s.at('W') + at.at('W')) * c0 + at.at('C') % c0;
          }};
}

// [D * C1 * H * W, N1, 16, C0]; D is 1 if it is missing.
Format weights(aclFormat format, const char* name) {
  return {format, name, 16,
          [](const Letters& s, int64_t c0) -> Dims {
            return {s.at('D') * up(s.at('C'), c0) * s.at('H') * s.at('W'), up(s.at('N'), 16), 16, c0};
          },
          [](const Letters& s, const Letters& at, int64_t c0) {
            const int64_t channels = at.at('D') * up(s.at('C'), c0) + at.at('C') / c0;
            const int64_t line = (channels * s.at('H') + at.at('H')) * s.at('W') + at.at('W');
            return ((line * up(s.at('N'), 16) + at.at('N') / 16) * 16 + at.at('N') % 16) * c0 + at.at('C') % c0;
          }};
}

// [.., K1, M1, 16, C0]; the product of the sizes before the last two is B here.
Format matrices(aclFormat format, const char* name, int64_t block) {
  return {format, name, block,
          [](const Letters& s, int64_t c0) -> Dims {
            return {up(s.at('K'), c0), up(s.at('M'), 16), 16, c0};
          },
          [](const Letters& s, const Letters& at, int64_t c0) {
            const int64_t column = at.at('B') * up(s.at('K'), c0) + at.at('K') / c0;
            return ((column * up(s.at('M'), 16) + at.at('M') / 16) * 16 + at.at('M') % 16) * c0 + at.at('K') % c0;
          }};
}

}  // namespace

const std::vector<Format>& formats() {
  static const std::vector<Format> all = {
      images(ACL_FORMAT_NC1HWC0, "NC1HWC0", 16),
      images(ACL_FORMAT_NC1HWC0_C04, "NC1HWC0_C04", 4),
      volumes(),
      weights(ACL_FORMAT_FRACTAL_Z, "FRACTAL_Z"),
      weights(ACL_FRACTAL_Z_3D, "FRACTAL_Z_3D"),
      matrices(ACL_FORMAT_FRACTAL_NZ, "FRACTAL_NZ", 0),
      matrices(ACL_FORMAT_FRACTAL_NZ_C0_2, "FRACTAL_NZ_C0_2", 2),
      matrices(ACL_FORMAT_FRACTAL_NZ_C0_4, "FRACTAL_NZ_C0_4", 4),
      matrices(ACL_FORMAT_FRACTAL_NZ_C0_8, "FRACTAL_NZ_C0_8", 8),
      matrices(ACL_FORMAT_FRACTAL_NZ_C0_16, "FRACTAL_NZ_C0_16", 16),
      matrices(ACL_FORMAT_FRACTAL_NZ_C0_32, "FRACTAL_NZ_C0_32", 32),
  };
  return all;
}

const Format& format_of(aclFormat format) {
  for (const Format& known : formats()) {
    if (known.format == format) return known;
  }
  ADD_FAILURE() << "no format " << format;
  return formats().front();
}

std::string letters(aclFormat plain, size_t rank, bool is_matrix) {
  if (is_matrix) return rank >= 2 ? std::string(rank - 2, 'B') + "MK" : std::string("M").substr(0, rank);
  if (plain == ACL_FORMAT_NHWC) return "NHWC";
  if (plain == ACL_FORMAT_HWCN) return "HWCN";
  if (plain == ACL_FORMAT_NDHWC) return "NDHWC";
  return rank == 5 ? "NCDHW" : rank == 4 ? "NCHW" : std::string("CHW").substr(0, rank);
}

Letters sizes_by_letter(const std::string& letters, const Dims& dims) {
  Letters found(1);
  for (size_t i = 0; i < letters.size(); ++i) found[letters[i]] *= dims[i];
  return found;
}

Letters index_by_letter(const std::string& letters, const Dims& dims, const Dims& index) {
  Letters found(0);
  for (size_t i = 0; i < letters.size(); ++i) found[letters[i]] = found[letters[i]] * dims[i] + index[i];
  return found;
}

Dims sizes_in_memory(const Format& format, aclFormat plain, const Dims& dims, int64_t c0) {
  const std::string names = letters(plain, dims.size(), is_matrix(format.format));
  Dims storage_shape = format.storage_shape(sizes_by_letter(names, dims), c0);
  if (is_matrix(format.format) && dims.size() > 2)
    storage_shape.insert(storage_shape.begin(), dims.begin(), dims.end() - 2);
  return storage_shape;
}

bool is_matrix(aclFormat format) { return format == ACL_FORMAT_FRACTAL_NZ || format >= ACL_FORMAT_FRACTAL_NZ_C0_16; }

}  // namespace format_test
