#include "ops/nn/attention/gate.h"

#include <array>
#include <memory>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "ops/core/contiguous.h"
#include "ops/core/iterate/tiles.h"
#include "ops/math/elementwise/map_op.h"
#include "ops/nn/attention/row_task.h"
#include "simd/non_temporal.h"
#include "workers/parallel.h"

namespace softnpu {
namespace {

constexpr double kFlopsPerElement = 96;

struct Halves {
  aclTensor activated;  // the half that the activation is applied to
  aclTensor other;
};

Status bad(std::string message) { return {ACLNN_ERR_PARAM_INVALID, std::move(message)}; }

Status cut(const aclTensor& x, const char* role, int64_t dim, bool left, Halves* out) {
  SOFTNPU_RETURN_IF_ERROR(check_rows(x, role));
  const auto n = static_cast<int64_t>(x.dims.size());
  if (dim < -n || dim >= n) return bad(text("dim is ", dim, " where ", role, " is ", describe(x)));
  const auto d = static_cast<size_t>(dim < 0 ? dim + n : dim);
  if (x.dims[d] % 2 != 0) return bad(text(role, " is ", describe(x), ", which dimension ", d, " does not cut in two"));
  aclTensor first = x;
  first.dims[d] /= 2;
  aclTensor second = first;
  second.offset += first.dims[d] * x.strides[d];
  *out = left ? Halves{first, second} : Halves{second, first};
  return Status::ok();
}

// Null if results of `as` in `out` fit the caches, or are not contiguous and of that type.
NonTemporalCopy stream_to(const aclTensor& out, aclDataType as) {
  const int64_t bytes = element_count(out) * static_cast<int64_t>(aclDataTypeSize(out.dtype));
  return out.dtype == as && is_contiguous(out) && bytes >= kNonTemporalBytes ? non_temporal_copy() : nullptr;
}

// Plans body(values, count, T()) for tiles of `tensors`; the first `outputs` are written.
template <typename Body>
Status plan_tiles(const std::vector<const aclTensor*>& tensors, size_t outputs, aclDataType as, Body body, Plan* plan) {
  Space space;
  SOFTNPU_RETURN_IF_ERROR(Space::make(tensors, outputs, &space));
  std::vector<Tiles::Use> uses;
  for (size_t k = 0; k < tensors.size(); ++k) {
    if (!std::ranges::equal(tensors[k]->dims, tensors[0]->dims)) {
      return bad(text(describe(tensors), ": one shape is needed"));
    }
    uses.push_back({as, k < outputs ? Tiles::Access::kWrite : Tiles::Access::kRead});
  }
  auto tiles = std::make_shared<const Tiles>(std::move(space), uses);
  const double cost = kFlopsPerElement * static_cast<double>(tiles->count());
  plan->work = cost;
  plan->describe = describe_later(tensors);
  plan->run = [=, threads = threads_for(cost)](void*) {
    parallel_for(tiles->count(), Tiles::kGrain, threads, [&](int64_t first, int64_t last) {
      tiles->run(first, last, [&](int64_t, void* const* values, size_t count) {
        if (as == ACL_DOUBLE) {  // NOLINT(bugprone-branch-clone): two types
          body(values, count, double());
        } else {
          body(values, count, float());
        }
      });
      fence_non_temporal_stores();
    });
    return Status::ok();
  };
  return Status::ok();
}

Status gelu_of(int64_t approximate, Gate* out) {
  if (approximate != 0 && approximate != 1)
    return bad(text("approximate is ", approximate, ", not 0 (none) or 1 (tanh)"));
  *out = approximate == 0 ? kGeluGate : kGeluTanhGate;
  return Status::ok();
}

// sigmoid(1.702 x).
template <typename T>
void fast_sigmoid(MapKernel sigmoid, const T* x, size_t count, T* to) {
  for (size_t i = 0; i < count; ++i) to[i] = T(1.702) * x[i];
  const void* in[] = {to};
  sigmoid(to, in, count, nullptr);
}

}  // namespace

Status gate(const Gate& kind, const aclTensor& x, int64_t dim, bool left, const aclTensor& out,
            const aclTensor* activated, Plan* plan) {
  Halves halves;
  SOFTNPU_RETURN_IF_ERROR(cut(x, "x", dim, left, &halves));
  SOFTNPU_RETURN_IF_ERROR(check_rows(out, "out"));
  std::vector<const aclTensor*> tensors = {&out};
  if (activated != nullptr) {
    SOFTNPU_RETURN_IF_ERROR(check_rows(*activated, "the activated half"));
    tensors.push_back(activated);
  }
  const size_t outputs = tensors.size();
  tensors.push_back(&halves.activated);
  tensors.push_back(&halves.other);
  const aclDataType as = row_type(x);
  const MapKernel function = map_kernel(kind.function, compute_type_of(as));
  const NonTemporalCopy non_temporal = stream_to(out, as);
  return plan_tiles(
      tensors, outputs, as,
      [=]<typename T>(void* const* values, size_t count, T) {
        alignas(64) std::array<T, Tiles::kTile> active;
        const void* in[] = {values[outputs]};
        function(active.data(), in, count, nullptr);
        const T* other = static_cast<const T*>(values[outputs + 1]);
        if (outputs == 2) std::copy_n(active.data(), count, static_cast<T*>(values[1]));
        T* to = non_temporal == nullptr ? static_cast<T*>(values[0]) : active.data();
        for (size_t i = 0; i < count; ++i) to[i] = active[i] * other[i];
        if (non_temporal != nullptr) non_temporal(values[0], to, count * sizeof(T), nullptr);
      },
      plan);
}

Status gate_grad(const Gate& kind, const aclTensor& grad, const aclTensor& x, int64_t dim, bool left,
                 const aclTensor& out, Plan* plan) {
  Halves halves;
  Halves results;
  SOFTNPU_RETURN_IF_ERROR(cut(x, "x", dim, left, &halves));
  SOFTNPU_RETURN_IF_ERROR(cut(out, "out", dim, left, &results));
  SOFTNPU_RETURN_IF_ERROR(check_rows(grad, "grad"));
  const aclDataType as = row_type(x);
  const MapKernel function = map_kernel(kind.function, compute_type_of(as));
  const MapKernel gradient = map_kernel(kind.gradient, compute_type_of(as));
  return plan_tiles(
      {&results.activated, &results.other, &grad, &halves.activated, &halves.other}, 2, as,
      [=, is_of_result = kind.is_of_result]<typename T>(void* const* values, size_t count, T) {
        const T* g = static_cast<const T*>(values[2]);
        const T* other = static_cast<const T*>(values[4]);
        alignas(64) std::array<T, Tiles::kTile> part;
        alignas(64) std::array<T, Tiles::kTile> active;
        const void* in[] = {values[3]};
        function(active.data(), in, count, nullptr);
        for (size_t i = 0; i < count; ++i) part[i] = g[i] * other[i];
        const void* of[] = {part.data(), is_of_result ? active.data() : values[3]};
        gradient(part.data(), of, count, nullptr);
        for (size_t i = 0; i < count; ++i) active[i] *= g[i];
        std::copy_n(part.data(), count, static_cast<T*>(values[0]));
        std::copy_n(active.data(), count, static_cast<T*>(values[1]));
      },
      plan);
}

Status ge_glu(const aclTensor& x, int64_t dim, int64_t approximate, bool left, const aclTensor& out,
              const aclTensor& activated, Plan* plan) {
  Gate kind = kGeluGate;
  SOFTNPU_RETURN_IF_ERROR(gelu_of(approximate, &kind));
  return gate(kind, x, dim, left, out, &activated, plan);
}

Status ge_glu_grad(const aclTensor& grad, const aclTensor& x, int64_t dim, int64_t approximate, bool left,
                   const aclTensor& out, Plan* plan) {
  Gate kind = kGeluGate;
  SOFTNPU_RETURN_IF_ERROR(gelu_of(approximate, &kind));
  return gate_grad(kind, grad, x, dim, left, out, plan);
}

Status gelu_mul(const aclTensor& x, const char* approximate, const aclTensor& out, Plan* plan) {
  const std::string_view name = approximate == nullptr ? "" : approximate;
  if (name != "none" && name != "tanh") {
    return bad(text("approximate is '", name, "': none and tanh are taken"));
  }
  return gate(name == "none" ? kGeluGate : kGeluTanhGate, x, -1, true, out, nullptr, plan);
}

Status fast_gelu(const aclTensor& x, const aclTensor& out, Plan* plan) {
  for (const aclTensor* tensor : {&x, &out}) {
    if (!is_known(tensor->dtype) || !is_floating(tensor->dtype))
      return bad(text(describe(*tensor), "; floating-point types are taken"));
  }
  const aclDataType as = row_type(x);
  const MapKernel sigmoid = map_kernel(MapOp::kSigmoid, compute_type_of(as));
  return plan_tiles(
      {&out, &x}, 1, as,
      [=]<typename T>(void* const* values, size_t count, T) {
        alignas(64) std::array<T, Tiles::kTile> share;
        const T* from = static_cast<const T*>(values[1]);
        fast_sigmoid(sigmoid, from, count, share.data());
        T* to = static_cast<T*>(values[0]);
        for (size_t i = 0; i < count; ++i) to[i] = from[i] * share[i];
      },
      plan);
}

Status fast_gelu_grad(const aclTensor& grad, const aclTensor& x, const aclTensor& out, Plan* plan) {
  for (const aclTensor* tensor : {&grad, &x, &out}) {
    if (!is_known(tensor->dtype) || !is_floating(tensor->dtype))
      return bad(text(describe(*tensor), "; floating-point types are taken"));
  }
  const aclDataType as = row_type(x);
  const MapKernel sigmoid = map_kernel(MapOp::kSigmoid, compute_type_of(as));
  return plan_tiles(
      {&out, &grad, &x}, 1, as,
      [=]<typename T>(void* const* values, size_t count, T) {
        alignas(64) std::array<T, Tiles::kTile> share;
        const T* g = static_cast<const T*>(values[1]);
        const T* from = static_cast<const T*>(values[2]);
        fast_sigmoid(sigmoid, from, count, share.data());
        T* to = static_cast<T*>(values[0]);
        for (size_t i = 0; i < count; ++i) to[i] = g[i] * share[i] * (1 + T(1.702) * from[i] * (1 - share[i]));
      },
      plan);
}

}  // namespace softnpu
