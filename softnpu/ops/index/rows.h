#pragma once
// Rows of an indexed tensor, read or written in the order of another one.

#include <array>
#include <cstdint>
#include <functional>
#include <string>

#include "nnopbase/scalar.h"
#include "ops/index/row_kernels.h"
#include "ops/index/table.h"
#include "ops/iterate/walk.h"

namespace softnpu {

// The table's entries times the elements of `rest`, the dimensions that both tensors share.
class IndexedRows {
 public:
  // `sizes`: of the table; `entries`: the strides of its dimensions in `other`, in bytes. `rest` has the indexed
  // tensor's strides first.
  IndexedRows(RowOp op, aclDataType dtype, char* indexed, char* other, const Dims& sizes, const Dims& entries,
              Walk<2> rest);
  // For kAddScaled.
  void set_alpha(const aclScalar& alpha, aclDataType dtype);

  // Number of table entries; count(): of moved elements.
  int64_t entries() const { return entries_.count(); }
  int64_t count() const { return entries_.count() * rest_.count(); }
  void run(const ptrdiff_t* table, int threads) const;

 private:
  // Offsets of table entries in [begin, end); all by default.
  struct Entries {
    ptrdiff_t begin = PTRDIFF_MIN;
    ptrdiff_t end = PTRDIFF_MAX;
  };

  void run_part(const ptrdiff_t* table, int64_t place, int64_t entries, int64_t first, int64_t count,
                Entries taken) const;

  RowKernel kernel_;
  bool reads_;
  char* indexed_;
  char* other_;
  Walk<1> entries_;
  Walk<2> rest_;
  alignas(16) std::array<char, 16> alpha_{};
};

// Writes the table: one offset per entry of the rows.
using FillTable = std::function<Status(ptrdiff_t* table)>;

// Fills the table in the workspace, then moves the rows. Runs `before` first, if it is set.
Status plan_rows(FillTable fill, IndexedRows rows, Plan before, std::string said, Plan* plan);

// `index` selects along dimension `dim` of `self`; its dimensions replace that one in `other`.
struct AlongDim {
  RowOp op;
  View self;
  size_t dim;
  View index;
  View other;
  bool wraps = false;

  IndexedRows rows() const;
  IndexTable table() const;
};
Status plan_along_dim(const AlongDim& move, Plan before, std::string said, Plan* plan);

// Initialises `out` with `self`: a copy, unless both are the same memory.
Status plan_start(const aclTensor& self, const aclTensor& out, Plan* plan);

}  // namespace softnpu
