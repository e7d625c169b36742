#pragma once
// Planners for operators.txt. Means and reciprocal deviations (rstd) are written if they are given.

#include "nnopbase/arrays.h"
#include "nnopbase/executor.h"
#include "nnopbase/tensor.h"

namespace softnpu {

// Rows of the last dimensions; their number is that of `weight` or stated by `shape`.
struct RowNorm {
  bool centered = true;  // layer norm; else RMS norm: no mean is subtracted
  double eps = 0;
  int64_t length = 1;  // of a row
  const aclTensor* x = nullptr;
  double factor = 1;                 // multiplies x
  const aclTensor* added = nullptr;  // is added to factor * x
  const aclTensor* shift = nullptr;  // is added too; one row for all
  const aclTensor* weight = nullptr;
  double weight_offset = 0;  // is added to the weight
  const aclTensor* bias = nullptr;
  const aclTensor* y = nullptr;
  const aclTensor* y_again = nullptr;  // y in another data type
  const aclTensor* mean = nullptr;
  const aclTensor* rstd = nullptr;
  const aclTensor* variance = nullptr;
  const aclTensor* sum = nullptr;  // factor * x + added + shift
};
Status plan_row_norm(const RowNorm& norm, Plan* plan);

struct RowNormGradient {
  bool centered = true;
  int64_t length = 1;
  const aclTensor* grad = nullptr;
  const aclTensor* x = nullptr;
  double factor = 1;                 // multiplies x
  const aclTensor* added = nullptr;  // is added to factor * x
  const aclTensor* mean = nullptr;
  const aclTensor* rstd = nullptr;
  bool is_variance = false;  // rstd is the rows' variance, to which `eps` is added
  double eps = 0;
  const aclTensor* weight = nullptr;
  const aclTensor* dsum = nullptr;     // is added to the rows' gradient
  const aclTensor* dx = nullptr;       // gradient of the rows
  const aclTensor* dscaled = nullptr;  // factor * dx, if dx is given
  const aclTensor* dweight = nullptr;
  const aclTensor* dbias = nullptr;
};
Status plan_row_norm_gradient(const RowNormGradient& norm, Plan* plan);

Status layer_norm(const aclTensor& x, const aclIntArray& shape, const aclTensor* weight, const aclTensor* bias,
                  double eps, const aclTensor& y, const aclTensor* mean, const aclTensor* rstd, Plan* plan);
Status layer_norm_gradient(const aclTensor& grad, const aclTensor& x, const aclIntArray& shape, const aclTensor& mean,
                           const aclTensor& rstd, const aclTensor* weight, const aclBoolArray& mask,
                           const aclTensor* dx, const aclTensor* dweight, const aclTensor* dbias, Plan* plan);
Status rms_norm(const aclTensor& x, const aclTensor& weight, double eps, const aclTensor& y, const aclTensor* rstd,
                Plan* plan);
// The same with weight + 1, the form of Gemma.
Status gemma_rms_norm(const aclTensor& x, const aclTensor& weight, double eps, const aclTensor& y,
                      const aclTensor* rstd, Plan* plan);
Status rms_norm_gradient(const aclTensor& grad, const aclTensor& x, const aclTensor& rstd, const aclTensor& weight,
                         const aclTensor& dx, const aclTensor& dweight, Plan* plan);
Status add_rms_norm(const aclTensor& a, const aclTensor& b, const aclTensor& weight, double eps, const aclTensor& y,
                    const aclTensor* y_again, const aclTensor* rstd, const aclTensor* sum, Plan* plan);
Status add_layer_norm(const aclTensor& a, const aclTensor& b, const aclTensor& weight, const aclTensor& bias,
                      const aclTensor* shift, double eps, bool wants_sum, const aclTensor& y, const aclTensor* mean,
                      const aclTensor* rstd, const aclTensor* sum, Plan* plan);
Status add_layer_norm_gradient(const aclTensor& grad, const aclTensor& a, const aclTensor& b, const aclTensor& rstd,
                               const aclTensor& mean, const aclTensor& weight, const aclTensor* dsum,
                               const aclTensor& dx, const aclTensor& dweight, const aclTensor& dbias, Plan* plan);
// The layer norm of factor * x + added (DeepNet: Wang et al., 2022).
Status deep_norm(const aclTensor& x, const aclTensor& added, const aclTensor& bias, const aclTensor& weight,
                 double factor, double eps, const aclTensor* mean, const aclTensor* rstd, const aclTensor& y,
                 Plan* plan);
Status deep_norm_gradient(const aclTensor& grad, const aclTensor& x, const aclTensor& added, const aclTensor& weight,
                          const aclTensor& mean, const aclTensor& rstd, double factor, const aclTensor& dx,
                          const aclTensor& dadded, const aclTensor& dbias, const aclTensor& dweight, Plan* plan);

// x[N, C, ...], normalized over groups of channels in each sample.
Status group_norm(const aclTensor& x, const aclTensor* weight, const aclTensor* bias, int64_t n, int64_t c, int64_t hw,
                  int64_t groups, double eps, const aclTensor& y, const aclTensor* mean, const aclTensor* rstd,
                  Plan* plan);
Status group_norm_gradient(const aclTensor& grad, const aclTensor& x, const aclTensor& mean, const aclTensor& rstd,
                           const aclTensor* weight, int64_t n, int64_t c, int64_t hw, int64_t groups,
                           const aclBoolArray& mask, const aclTensor* dx, const aclTensor* dweight,
                           const aclTensor* dbias, Plan* plan);

// x[N, C, ...], normalized per channel. Training updates the running statistics in place.
Status batch_norm(const aclTensor& x, const aclTensor* weight, const aclTensor* bias, const aclTensor* running_mean,
                  const aclTensor* running_var, bool training, double momentum, double eps, const aclTensor& y,
                  const aclTensor* save_mean, const aclTensor* save_rstd, Plan* plan);
Status batch_norm_gradient(const aclTensor& grad, const aclTensor& x, const aclTensor* weight,
                           const aclTensor* running_mean, const aclTensor* running_var, const aclTensor* save_mean,
                           const aclTensor* save_rstd, bool training, double eps, const aclBoolArray& mask,
                           const aclTensor* dx, const aclTensor* dweight, const aclTensor* dbias, Plan* plan);
// Training that saves the batch's variance (divided by the count) instead of rstd; and its gradients, if not null.
Status batch_norm_of_batch(const aclTensor& x, const aclTensor& weight, const aclTensor& bias,
                           const aclTensor& running_mean, const aclTensor& running_var, double momentum, double eps,
                           const aclTensor& y, const aclTensor& mean, const aclTensor& variance, Plan* plan);
Status batch_norm_of_batch_gradient(const aclTensor& grad, const aclTensor& x, const aclTensor* weight,
                                    const aclTensor& mean, const aclTensor& variance, double eps, const aclTensor* dx,
                                    const aclTensor* dweight, const aclTensor* dbias, Plan* plan);
Status batch_norm_stats(const aclTensor& x, double eps, const aclTensor& mean, const aclTensor& rstd, Plan* plan);
Status batch_norm_elemt(const aclTensor& x, const aclTensor* weight, const aclTensor* bias, const aclTensor& mean,
                        const aclTensor& rstd, const aclTensor& y, Plan* plan);

// The parts of batch norm over several processes. Sums over each channel:
Status batch_norm_sums(const aclTensor& x, const aclTensor& sum, const aclTensor& squares, Plan* plan);
// Combines the statistics [ranks, channels] of all processes: sums of values and squares, or means and rstd.
Status batch_norm_gather(bool are_sums, const aclTensor& first, const aclTensor& second, const aclTensor* running_mean,
                         const aclTensor* running_var, double momentum, double eps, const aclTensor& counts,
                         const aclTensor& mean, const aclTensor& rstd, Plan* plan);
// The gradient's sums over each channel (null ones are not written); or, if `dx` is given, the input's gradient from
// the sums of all processes with `counts` values.
struct BatchNormPart {
  const aclTensor* grad = nullptr;
  const aclTensor* x = nullptr;
  const aclTensor* mean = nullptr;
  const aclTensor* rstd = nullptr;
  const aclTensor* weight = nullptr;
  const aclTensor* sum_dy = nullptr;
  const aclTensor* sum_dy_xmu = nullptr;
  const aclTensor* dweight = nullptr;
  const aclTensor* dbias = nullptr;
  const aclTensor* counts = nullptr;
  const aclTensor* dx = nullptr;
};
Status batch_norm_part(const BatchNormPart& part, Plan* plan);

}  // namespace softnpu
