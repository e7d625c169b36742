// Random numbers invoked by type name. Seeds and offsets are in host memory; if an offset has two halves, the upper one
// comes first.

#include "ops/math/random/random.h"
#include "ops/math/random/dropout.h"
#include "ops/math/random/sample.h"
#include "ops/registry/infer.h"
#include "ops/registry/invalid_call.h"
#include "ops/registry/registry.h"

namespace softnpu {
namespace {

Status read_seed(const aclIntArray& key, const aclIntArray& counter, RandomSeed* out) {
  if (key.size() != 1 || counter.empty() || counter.size() > 2) return invalid_call("a seed and an offset are needed");
  if (counter.size() == 2 && counter[0] != 0) return invalid_call("offsets of 64 bits are implemented");
  *out = RandomSeed(key[0], counter[counter.size() - 1]);
  return Status::ok();
}

// (sizes, seed, offset, algorithm): uniform in [0, 1).
Status plan_uniform(Operands& of, Plan* plan) {
  RandomSeed seed(0, 0);
  (void)of.numbers(0);
  SOFTNPU_RETURN_IF_ERROR(read_seed(of.numbers(1), of.numbers(2), &seed));
  return uniform(of.out(), 0, 1, seed, plan);
}

// (sizes, seed, offset, algorithm): mean 0, deviation 1.
Status plan_normal(Operands& of, Plan* plan) {
  RandomSeed seed(0, 0);
  (void)of.numbers(0);
  SOFTNPU_RETURN_IF_ERROR(read_seed(of.numbers(1), of.numbers(2), &seed));
  return normal(0.0F, 1.0F, seed, of.out(), plan);
}

// (sizes, probability, seed, offset)
Status plan_bernoulli(Operands& of, Plan* plan) {
  RandomSeed seed(0, 0);
  aclScalar number;
  (void)of.numbers(0);
  SOFTNPU_RETURN_IF_ERROR(read_seed(of.numbers(2), of.numbers(3), &seed));
  const MapInput probability = of.value(1, &number);
  if (probability.scalar != nullptr) return bernoulli(of.out(), *probability.scalar, seed, plan);
  return bernoulli(of.out(), *probability.tensor, seed, plan);
}

Status plan_multinomial(Operands& of, Plan* plan) {
  RandomSeed seed(0, 0);
  SOFTNPU_RETURN_IF_ERROR(read_seed(of.numbers(1), of.numbers(2), &seed));
  return multinomial(of.in(0), of.integer("numsamples"), of.flag("replacement"), seed, of.out(), plan);
}

// (sizes, probability to keep, seed, second seed, offset): one bit per element.
Status plan_mask(Operands& of, Plan* plan) {
  RandomSeed seed(0, 0);
  (void)of.number(3);  // 0 in the official plug-in
  SOFTNPU_RETURN_IF_ERROR(read_seed(of.numbers(2), of.numbers(4), &seed));
  return dropout_mask(of.numbers(0), 1 - of.number(1).as_double(), seed, of.out(), plan);
}

// (x, bits, probability to keep)
Status plan_dropout(Operands& of, Plan* plan) {
  return dropout(of.in(0), of.in(1), 1 - of.number(2).as_double(), of.out(), plan);
}

// Bits in whole blocks of 128.
Status mask_bytes(const aclIntArray& shape, aclTensor& y) {
  Checked count = 1;
  for (const int64_t size : shape) count = count * size;
  if (!count.fits() || count.value() < 0) return invalid_call("the sizes have no bytes of bits");
  return sized(ints({(count.value() + 127) / 128 * 16}), ACL_UINT8, y);
}

// `count` classes for each row.
Status sampled_classes(const aclTensor& x, int64_t count, aclTensor& y) {
  if (x.dims.empty()) return invalid_call("rows of probabilities are needed");
  SOFTNPU_RETURN_IF_ERROR(like(x, ACL_INT64, y));
  y.dims.back() = count;
  return Status::ok();
}

}  // namespace

}  // namespace softnpu

#include "opgen/rows_random.inc"
