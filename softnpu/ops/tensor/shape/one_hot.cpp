// one_hot: `off` everywhere except at each element's class.

#include <atomic>
#include <cstring>

#include "base/text.h"
#include "ops/core/convert/typed.h"
#include "ops/core/copy/strided_copy.h"
#include "ops/core/describe.h"
#include "ops/core/dtype.h"
#include "ops/core/element.h"
#include "ops/tensor/shape/operators.h"
#include "workers/parallel.h"

namespace softnpu {

Status one_hot(const aclTensor& self, int64_t classes, const aclTensor& on, const aclTensor& off, int64_t axis,
               const aclTensor& out, Plan* plan) {
  View from;
  View to;
  View on_view;
  View off_view;
  SOFTNPU_RETURN_IF_ERROR(view_of(self, "self", &from));
  SOFTNPU_RETURN_IF_ERROR(view_of(out, "out", &to));
  SOFTNPU_RETURN_IF_ERROR(view_of(on, "onValue", &on_view));
  SOFTNPU_RETURN_IF_ERROR(view_of(off, "offValue", &off_view));
  SOFTNPU_RETURN_IF_ERROR(same_dtype(on, out));
  SOFTNPU_RETURN_IF_ERROR(same_dtype(off, out));
  if (!is_integral(self.dtype) || self.dtype == ACL_BOOL) {
    return {ACLNN_ERR_PARAM_INVALID, text("self is ", describe(self), "; classes are integers")};
  }
  if (on_view.count() != 1 || off_view.count() != 1) {
    return {ACLNN_ERR_PARAM_INVALID,
            text("onValue and offValue have one element, not ", on_view.count(), " and ", off_view.count())};
  }
  if (classes < 0) return {ACLNN_ERR_PARAM_INVALID, text("the number of classes ", classes, " is negative")};
  size_t dim = 0;
  SOFTNPU_RETURN_IF_ERROR(wrap_dim(axis, from.rank() + 1, &dim));
  SOFTNPU_RETURN_IF_ERROR(require_sizes(out, from.insert(dim, classes, 0).sizes, "out"));
  CopyList background;
  off_view.sizes = {};
  off_view.strides = {};
  background.add(to, off_view.expand(to.sizes));
  SOFTNPU_RETURN_IF_ERROR(background.finish(describe_later({&self, &out}), plan));
  if (from.count() == 0) return Status::ok();
  const ptrdiff_t stride = to.strides[dim];
  const View rows = to.erase(dim);
  plan->run = [fill = std::move(plan->run), from, rows, stride, classes, on = on_view.data](void* workspace) {
    SOFTNPU_RETURN_IF_ERROR(fill(workspace));
    Walk<2> walk;
    for (size_t i = 0; i < from.rank(); ++i) walk.add(from.sizes[i], {from.strides[i], rows.strides[i]});
    walk.join();
    Status status = Status::ok();
    with_real(from.dtype, [&]<typename Element>() {
      with_element(static_cast<size_t>(rows.element()), [&]<typename T>() {
        walk.for_each(0, walk.count(), [&](const Walk<2>::Offsets& at) {
          const auto index = static_cast<int64_t>(Element::load(from.data + at[0]));
          if (index >= 0 && index < classes) {
            std::memcpy(rows.data + at[1] + index * stride, on, sizeof(T));
          } else if (status.is_ok()) {
            status = {ACLNN_ERR_PARAM_INVALID,
                      text("class ", index, " does not exist: there are ", classes, ", from 0 on")};
          }
        });
      });
    });
    return status;
  };
  return Status::ok();
}

}  // namespace softnpu
