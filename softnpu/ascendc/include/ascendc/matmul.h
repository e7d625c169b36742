#pragma once
// The objects of the cube: C = A B of matrices in global or unified memory, of any sizes. Facts: Ascend/DrivingSDK
// (sparse_matmul, subm_sparse_conv3d, deformable_conv2d), sgl-kernel-npu (csrc/lora, ada_block_sparse_attention). See
// PROVENANCE.md.

#include <algorithm>
#include <cstdint>
#include <source_location>
#include <string>
#include <type_traits>
#include <utility>

#include "ascendc/block_info.h"
#include "ascendc/cube_tiling.h"
#include "ascendc/cube_types.h"
#include "ascendc/pipe.h"
#include "ascendc/tensor.h"
#include "softnpu_kernel/matrix.h"

namespace AscendC {

// Functions that copy in place of the library: none are implemented.
template <auto copy_out, auto copy_a, auto copy_b>
struct MatmulCallBackFunc {
  static_assert(copy_out == nullptr && copy_a == nullptr && copy_b == nullptr,
                "Matmul: functions that copy in place of the library are not implemented");
};

namespace cube {

using Where = std::source_location;
using softnpu::kernel::DataType;
using softnpu::kernel::MatrixOperand;
using softnpu::kernel::Pipe;

constexpr bool is_unified(TPosition position) {
  return softnpu::kernel::memory_of(position) == softnpu::kernel::LocalMemory::kUnified && position != TPosition::GM;
}

// What is stored and how; the types of a matrix are those of a product.
template <typename Type>
constexpr bool is_known = (Type::pos == TPosition::GM || is_unified(Type::pos)) && Type::format != CubeFormat::NZ;

// Orders what other pipes were given before the cube's next instruction.
inline void begin(const Where& where) {
  for (const Pipe pipe : {Pipe::kMte2, Pipe::kV, Pipe::kMte3}) {
    softnpu::kernel::set_flag(pipe, Pipe::kM, 0, where);
    softnpu::kernel::wait_flag(pipe, Pipe::kM, 0, where);
  }
}
inline void wait(const Where& where) { softnpu::kernel::barrier(softnpu::kernel::kAllPipes, where); }

}  // namespace cube

// C is of float, half or bfloat16_t, rounded once from sums of float; or of int32_t where A and B are of int8_t.
template <typename A, typename B, typename C, typename Bias = C, MatmulConfig config = CFG_NORM,
          typename CallBacks = MatmulCallBackFunc<nullptr, nullptr, nullptr>>
class MatmulImpl {
  using T = typename A::T;
  using R = typename C::T;
  static constexpr bool kIsInteger = std::is_same_v<T, int8_t>;
  static_assert(std::is_same_v<T, typename B::T>, "Matmul: A and B are of one type");
  static_assert(kIsInteger || std::is_same_v<T, half> || std::is_same_v<T, bfloat16_t> || std::is_same_v<T, float>,
                "Matmul: A and B are of half, bfloat16_t, float or int8_t");
  static_assert(kIsInteger ? std::is_same_v<R, int32_t>
                           : std::is_same_v<R, half> || std::is_same_v<R, bfloat16_t> || std::is_same_v<R, float>,
                "Matmul: C is of float, half or bfloat16_t; of int32_t where A and B are of int8_t");
  static_assert(cube::is_known<A> && cube::is_known<B> && cube::is_known<C>,
                "Matmul: matrices are in GM or the unified buffer, of format ND, ND_ALIGN or VECTOR");
  static_assert(sizeof(CallBacks) > 0);

 public:
  // `tiling` is copied.
  void Init(const TCubeTiling* tiling, TPipe* = nullptr, const cube::Where& where = cube::Where::current()) {
    if (tiling == nullptr) softnpu::kernel::fail("Matmul: the tiling is null", where);
    tiling_ = *tiling;
    stored_ = {tiling_.M, tiling_.N, tiling_.Ka, tiling_.Kb, tiling_.N};
    single_ = {tiling_.singleCoreM, tiling_.singleCoreN, tiling_.singleCoreK};
    is_ready_ = true;
  }
  void SetSubBlockIdx(uint8_t) {}

  // Of the matrices as they are stored: rows of A and C, columns of B, and columns of A and rows of B; rows of C are
  // `columns_of_c` long, where that is given.
  void SetOrgShape(int32_t m, int32_t n, int32_t k) { SetOrgShape(m, n, k, k); }
  void SetOrgShape(int32_t m, int32_t n, int32_t k_of_a, int32_t k_of_b, int32_t columns_of_c = 0) {
    stored_ = {m, n, k_of_a, k_of_b, columns_of_c > 0 ? columns_of_c : n};
  }
  // Of the next products.
  void SetSingleShape(int32_t m, int32_t n, int32_t k) { single_ = {m, n, k}; }
  // The same; -1: as it was.
  void SetTail(int32_t m = -1, int32_t n = -1, int32_t k = -1) {
    if (m >= 0) single_.m = m;
    if (n >= 0) single_.n = n;
    if (k >= 0) single_.k = k;
  }

  // The matrices of the next products, from their first element on.
  void SetTensorA(const GlobalTensor<T>& a, bool transposed = false,
                  const cube::Where& where = cube::Where::current()) {
    set(&left_, a, transposed && check<A>("SetTensorA", where));
  }
  void SetTensorA(const LocalTensor<T>& a, bool transposed = false, const cube::Where& where = cube::Where::current()) {
    static_assert(cube::is_unified(A::pos), "SetTensorA: MatmulType says that A is in global memory");
    set(&left_, a, transposed && check<A>("SetTensorA", where));
  }
  void SetTensorB(const GlobalTensor<T>& b, bool transposed = false,
                  const cube::Where& where = cube::Where::current()) {
    set(&right_, b, transposed && check<B>("SetTensorB", where));
  }
  void SetTensorB(const LocalTensor<T>& b, bool transposed = false, const cube::Where& where = cube::Where::current()) {
    static_assert(cube::is_unified(B::pos), "SetTensorB: MatmulType says that B is in global memory");
    set(&right_, b, transposed && check<B>("SetTensorB", where));
  }

  // Products have no bias here.
  void DisableBias() {}
  // What the real library keeps there is not needed.
  template <typename U>
  void SetWorkspace(const GlobalTensor<U>&) {}
  // Sums and factors of float keep all their digits.
  void SetHF32(bool, int32_t = 0) {}
  void SetUserDefInfo(uint64_t) {}
  void SetSelfDefineData(uint64_t) {}

  // The whole product. `atomic` 1: is added to what C has. Without `sync`, C is there behind WaitIterateAll() or End().
  template <bool sync = true>
  void IterateAll(const GlobalTensor<R>& c, uint8_t atomic = 0, bool sequential = false, bool = false, bool = false,
                  const cube::Where& where = cube::Where::current()) {
    if (sequential)
      softnpu::kernel::fail("IterateAll: enSequentialWrite, with which tiles follow each other, is not implemented",
                            where);
    if (atomic > 1) softnpu::kernel::fail("IterateAll: enAtomic is 0, or 1 for SetAtomicAdd", where);
    auto product = make("IterateAll", where);
    product.m = size(single_.m);
    product.n = size(single_.n);
    product.result = {c.memory(), row_of_c(), softnpu::kernel::data_type_of<R>(), false, true};
    product.adds = atomic == 1;
    issue(product, sync);
  }
  void WaitIterateAll(const cube::Where& where = cube::Where::current()) { cube::wait(where); }

  // Begins a product whose tiles GetTensorC() gives: baseM by baseN, those of the first rows first.
  template <bool sync>
  void Iterate(bool adds = false, const cube::Where& where = cube::Where::current()) {
    static_assert(!sync, "Iterate<true> is not implemented: use Iterate<false> and GetTensorC<false>");
    if (adds) softnpu::kernel::fail("Iterate: partial sums are not implemented", where);
    if (tiling_.baseM <= 0 || tiling_.baseN <= 0)
      softnpu::kernel::fail("Iterate: baseM and baseN of the tiling have to be more than 0", where);
    (void)make("Iterate", where);  // refuses what no tile can be computed of
    next_ = 0;
  }
  // The next tile, in rows of baseN elements. It is there behind WaitGetTensorC().
  template <bool sync>
  void GetTensorC(const LocalTensor<R>& c, const cube::Where& where = cube::Where::current()) {
    static_assert(cube::is_unified(C::pos), "GetTensorC: MatmulType says that C is in global memory");
    const int32_t columns = tiling_.baseN > 0 ? (single_.n + tiling_.baseN - 1) / tiling_.baseN : 0;
    const int32_t row = columns > 0 ? next_ / columns * tiling_.baseM : single_.m;
    if (row >= single_.m || next_ < 0) softnpu::kernel::fail("GetTensorC: no tile is left: Iterate is missing", where);
    const int32_t column = next_ % columns * tiling_.baseN;
    ++next_;
    auto product = make("GetTensorC", where);
    product.m = size(std::min(tiling_.baseM, single_.m - row));
    product.n = size(std::min(tiling_.baseN, single_.n - column));
    move(&product.left, static_cast<uint64_t>(row), 0);
    move(&product.right, 0, static_cast<uint64_t>(column));
    product.result = {c.memory(), size(tiling_.baseN), softnpu::kernel::data_type_of<R>(), false, false};
    issue(product, sync);
  }
  void WaitGetTensorC(const cube::Where& where = cube::Where::current()) { cube::wait(where); }

  // Waits for all products.
  void End(const cube::Where& where = cube::Where::current()) {
    cube::wait(where);
    next_ = -1;
  }

 private:
  struct Stored {
    int32_t m, n, k_of_a, k_of_b, columns_of_c;
  };
  struct Single {
    int32_t m, n, k;
  };
  struct Operand {
    softnpu::kernel::Memory memory{nullptr, 0};
    bool is_transposed = false;
  };

  static uint32_t size(int32_t value) { return static_cast<uint32_t>(value); }

  // Whether MatmulType allows a transposed matrix; does not return where it does not.
  template <typename Type>
  static bool check(const char* name, const cube::Where& where) {
    if constexpr (!Type::isTrans)
      softnpu::kernel::fail((std::string(name) + ": transposed, which the matrix's MatmulType does not allow").c_str(),
                            where);
    return true;
  }
  template <typename Tensor>
  static void set(Operand* operand, const Tensor& tensor, bool transposed) {
    *operand = {tensor.memory(), transposed};
  }

  // Elements of a stored row, whose format may begin each at a multiple of 32 bytes.
  template <typename Type>
  static uint64_t row_of(int32_t columns) {
    constexpr uint64_t unit = 32 / sizeof(typename Type::T);
    const auto length = static_cast<uint64_t>(columns);
    return Type::format == CubeFormat::ND_ALIGN ? (length + unit - 1) / unit * unit : length;
  }
  uint64_t row_of_c() const { return row_of<C>(stored_.columns_of_c); }

  // A product of all that the setters say, but its result.
  softnpu::kernel::ProductInstruction make(const char* name, const cube::Where& where) const {
    const auto fail = [&](const char* sentence) {
      softnpu::kernel::fail((std::string(name) + ": " + sentence).c_str(), where);
    };
    if (!is_ready_) fail("the object has no tiling: REGIST_MATMUL_OBJ is missing");
    if (left_.memory.address == nullptr) fail("A is missing: SetTensorA");
    if (right_.memory.address == nullptr) fail("B is missing: SetTensorB");
    if (single_.m <= 0 || single_.n <= 0 || single_.k <= 0)
      fail("the product's sizes have to be more than 0: SetSingleShape, or the tiling");
    const int32_t row_of_left = left_.is_transposed ? stored_.m : stored_.k_of_a;
    const int32_t row_of_right = right_.is_transposed ? stored_.k_of_b : stored_.n;
    if (row_of_left <= 0 || row_of_right <= 0 || stored_.columns_of_c <= 0)
      fail("the stored matrices' sizes have to be more than 0: SetOrgShape, or the tiling");
    auto product = softnpu::kernel::make_instruction<softnpu::kernel::ProductInstruction>(
        name, cube::Pipe::kM, &softnpu::kernel::execute_product, &softnpu::kernel::touch_product, where);
    constexpr auto type = softnpu::kernel::data_type_of<T>();
    product.left = {left_.memory, row_of<A>(row_of_left), type, left_.is_transposed, A::pos == TPosition::GM};
    product.right = {right_.memory, row_of<B>(row_of_right), type, right_.is_transposed, B::pos == TPosition::GM};
    product.k = size(single_.k);
    return product;
  }
  // The part of a matrix from (row, column) on.
  static void move(cube::MatrixOperand* matrix, uint64_t row, uint64_t column) {
    if (matrix->is_transposed) std::swap(row, column);
    const uint64_t bytes = (row * matrix->stride + column) * sizeof(T);
    matrix->memory.address = static_cast<char*>(matrix->memory.address) + bytes;
    if (matrix->memory.bytes != softnpu::kernel::kUnknownBytes)
      matrix->memory.bytes -= std::min(bytes, matrix->memory.bytes);
  }
  void issue(const softnpu::kernel::ProductInstruction& product, bool sync) const {
    cube::begin(product.where);
    softnpu::kernel::issue(product);
    if (sync) cube::wait(product.where);
  }

  TCubeTiling tiling_{};
  Stored stored_{};
  Single single_{};
  Operand left_;
  Operand right_;
  int32_t next_ = -1;  // the next tile; -1: Iterate is missing
  bool is_ready_ = false;
};

// The same, asked for by a vector core, whose cube core does the work: its own block ends at REGIST_MATMUL_OBJ.
template <typename A, typename B, typename C, typename Bias = C, MatmulConfig config = CFG_NORM,
          typename CallBacks = MatmulCallBackFunc<nullptr, nullptr, nullptr>>
class Matmul : public MatmulImpl<A, B, C, Bias, config, CallBacks> {};

namespace cube {

template <typename Object>
void register_objects(TPipe* pipe, const Where& where, Object& object, const TCubeTiling* tiling) {
  object.Init(tiling, pipe, where);
}
template <typename Object, typename... Others>
void register_objects(TPipe* pipe, const Where& where, Object& object, const TCubeTiling* tiling, Others&&... others) {
  object.Init(tiling, pipe, where);
  register_objects(pipe, where, others...);
}

// `workspace` is the system's, which is not needed. Objects come with their tilings.
template <typename... Objects>
void register_all(TPipe* pipe, const void* workspace, const Where& where, Objects&&... objects) {
  if (workspace == nullptr) softnpu::kernel::fail("REGIST_MATMUL_OBJ: the system's workspace is null", where);
  softnpu::kernel::use_cube(where);
  register_objects(pipe, where, objects...);
}

}  // namespace cube
}  // namespace AscendC

namespace matmul {

using namespace AscendC;  // NOLINT(google-build-using-namespace): kernels name the objects in both namespaces

}  // namespace matmul

// REGIST_MATMUL_OBJ(pipe, workspace, object, tiling, object, tiling, ...)
#define REGIST_MATMUL_OBJ(pipe, workspace, ...) \
  ::AscendC::cube::register_all(pipe, workspace, std::source_location::current(), __VA_ARGS__)
