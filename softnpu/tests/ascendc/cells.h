#pragma once
// The record of what this test program compared with a reference: cells of an instruction, a form, element types, and
// dense or strided operands. instructions.tsv says which cells there have to be.

#include <cstdint>
#include <set>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "ascendc/types.h"

namespace cells {

struct Cell {
  std::string instruction;  // as kernels write it
  std::string variant;      // a word of instructions.tsv
  std::string types;        // "float", or "half<float" of destination and source
  bool is_strided;

  auto operator<=>(const Cell&) const = default;
  std::string text() const {
    return instruction + ", " + variant + ", " + types + (is_strided ? ", strided" : ", dense");
  }
};

template <typename T>
std::string type_name() {
  if constexpr (std::is_same_v<T, half>)
    return "half";
  else if constexpr (std::is_same_v<T, bfloat16_t>)
    return "bfloat16";
  else if constexpr (std::is_same_v<T, float>)
    return "float";
  else
    return (std::is_signed_v<T> ? "int" : "uint") + std::to_string(8 * sizeof(T));
}
template <typename Destination, typename Source>
std::string type_names() {
  if constexpr (std::is_same_v<Destination, Source>)
    return type_name<Destination>();
  else
    return type_name<Destination>() + "<" + type_name<Source>();
}

// The cells whose results equalled those of a reference in this process.
std::set<Cell>& compared();
inline void record(const std::string& instruction, const std::string& variant, const std::string& types,
                   bool is_strided) {
  compared().insert({instruction, variant, types, is_strided});
}

// A function that compares the cells of a family of instructions, and records them. Its own test calls run(); so does
// the test of the table for families that this process has not run.
class Family {
 public:
  explicit Family(void (*compare)());
  void run() const;
  static void run_the_others();

 private:
  void (*compare_)();
};

}  // namespace cells
