#pragma once
// Rows of an indexed tensor, read or written in the order of another one.

#include <array>
#include <cstdint>
#include <functional>

#include "nnopbase/scalar.h"
#include "ops/core/iterate/walk.h"
#include "ops/tensor/index/read_rows.h"
#include "ops/tensor/index/row_kernels.h"
#include "ops/tensor/index/table.h"

namespace softnpu {

// A table's entries times the elements of `rest`, the dimensions that both tensors share.
struct RowLayout {
  // `sizes`: of the table; `strides`: of its dimensions in `other`, in bytes. `rest` has the indexed tensor's strides
  // first.
  RowLayout(char* indexed, char* other, const Dims& sizes, const Dims& strides, Walk<2> rest);

  // Number of moved elements.
  int64_t count() const { return entries.count() * rest.count(); }

  char* indexed;
  char* other;
  Walk<1> entries;
  Walk<2> rest;
};

// `index` selects along dimension `dim` of `self`; its dimensions replace that one in `other`.
RowLayout layout_along(const View& self, size_t dim, const View& index, const View& other);
IndexTable table_along(const View& self, size_t dim, const View& index);

// Reads rows into `other`; indices are checked and used tile by tile.
Status plan_reads(IndexTable table, RowLayout rows, aclDataType dtype, Describe message, Plan* plan);

// Writes a table in the workspace: one offset per entry of the rows.
using FillTable = std::function<Status(ptrdiff_t* table)>;
Status plan_reads(FillTable fill, RowLayout rows, aclDataType dtype, Describe message, Plan* plan);

// Rows that are written from `other`.
class RowWrites {
 public:
  RowWrites(RowOp op, aclDataType dtype, RowLayout layout);
  // For kAddScaled.
  void set_alpha(const aclScalar& alpha, aclDataType dtype);

  const RowLayout& layout() const { return layout_; }
  void run(const ptrdiff_t* table, int threads) const;

 private:
  // Offsets of table entries in [begin, end); all by default.
  struct Entries {
    ptrdiff_t begin = PTRDIFF_MIN;
    ptrdiff_t end = PTRDIFF_MAX;
  };

  void run_part(const ptrdiff_t* table, int64_t first, int64_t count, Entries taken) const;
  void write_elements(const ptrdiff_t* table, char* indexed, char* other, Entries taken) const;

  RowLayout layout_;
  RowKernel kernel_;
  ElementKernel elements_;
  alignas(16) std::array<char, 16> alpha_{};
};

// Checks all indices, then writes the rows. Runs `before` first, if it is set. `keep` owns memory that no tensor does.
Status plan_writes(IndexTable table, RowWrites rows, Plan before, Describe message, Plan* plan,
                   std::shared_ptr<const void> keep = nullptr);

// Initialises `out` with `self`: a copy, unless both are the same memory.
Status plan_start(const aclTensor& self, const aclTensor& out, Plan* plan);

}  // namespace softnpu
