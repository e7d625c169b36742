// The element types that the unit computes are those of instructions.tsv, no less and no more.

#include <functional>
#include <set>
#include <string>

#include "ascendc/cells.h"
#include "ascendc/instruction_table.h"
#include "ascendc/vector_memory.h"
#include "softnpu_kernel/vector_select.h"

namespace {

using namespace softnpu::kernel;

class KernelTypes : public VectorTest {};

constexpr const char* kNames[] = {"Abs",       "Exp",        "Sqrt", "Relu",     "Not",  "Cast", "Add",
                                  "Sub",       "Mul",        "Div",  "Max",      "Min",  "And",  "Or",
                                  "AddRelu",   "MulAddDst",  "Adds", "Muls",     "Maxs", "Mins", "LeakyRelu",
                                  "ShiftLeft", "ShiftRight", "Axpy", "Duplicate"};
static_assert(std::size(kNames) == static_cast<size_t>(VectorOp::kCount));

// In the order of DataType.
constexpr const char* kTypes[] = {"half",   "bfloat16", "float",  "int8",  "uint8", "int16",
                                  "uint16", "int32",    "uint32", "int64", "uint64"};

int sources_of(VectorOp op) {
  if (op == VectorOp::kDuplicate) return 0;
  return op >= VectorOp::kAdd && op <= VectorOp::kMulAddDst ? 2 : 1;
}

TEST_F(KernelTypes, AreThoseOfTheTable) {
  std::set<std::pair<std::string, std::string>> tabled;
  for (const InstructionRow& row : instruction_table()) {
    for (const std::string& type : row.types) tabled.insert({row.name, type});
  }
  alignas(64) uint8_t memory[3][64] = {};
  // One element of each type, and of each pair of types where an instruction has such.
  const auto expect_as_tabled = [&](const std::string& name, VectorInstruction* v, DataType to, DataType from) {
    const auto type = [](DataType of) { return std::string(kTypes[static_cast<int>(of)]); };
    v->name = name.c_str();
    v->mask.elements = 1;
    v->destination = {memory[0], 64, 1, 8, to};
    v->source[0] = {memory[1], 64, 1, 8, from};
    v->source[1] = {memory[2], 64, 1, 8, from};
    const std::function<void()> body = [v] { v->execute(*v); };
    const bool is_there = run("types", 1, Arguments{&body}, Call()) == ACL_SUCCESS;
    const std::string types = to == from || to == DataType::kBits ? type(from) : type(to) + "<" + type(from);
    EXPECT_EQ(is_there, tabled.contains({name, types})) << name << " of " << types;
  };
  for (int op = 0; op < static_cast<int>(VectorOp::kCount); ++op) {
    for (int to = 0; to < static_cast<int>(DataType::kBits); ++to) {
      for (int from = 0; from < static_cast<int>(DataType::kBits); ++from) {
        const bool has_pairs = op == static_cast<int>(VectorOp::kCast) || op == static_cast<int>(VectorOp::kAxpy);
        if (to != from && !has_pairs) continue;
        VectorInstruction v{};
        v.execute = &execute_vector;
        v.op = static_cast<VectorOp>(op);
        v.sources = static_cast<uint8_t>(sources_of(v.op));
        expect_as_tabled(kNames[op], &v, static_cast<DataType>(to), static_cast<DataType>(from));
      }
    }
  }
  for (int type = 0; type < static_cast<int>(DataType::kBits); ++type) {
    CompareInstruction compare{};
    compare.execute = &execute_compare;
    compare.sources = 2;
    expect_as_tabled("Compare", &compare, DataType::kBits, static_cast<DataType>(type));
    SelectInstruction select{};
    select.execute = &execute_select;
    select.sources = 2;
    select.bits = {memory[2], 64, 1, 8, DataType::kBits};
    expect_as_tabled("Select", &select, static_cast<DataType>(type), static_cast<DataType>(type));
  }
}

}  // namespace
