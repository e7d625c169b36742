#include "ops/nn/conv/winograd_products.h"

#include <vector>

#include "base/no_destroy.h"
#include "ops/blas/onednn/engine.h"
#include "workers/parallel.h"

namespace softnpu {

std::shared_ptr<const WinogradProduct> make_winograd_product(const dnnl::memory::desc& src,
                                                             const dnnl::memory::desc& weights,
                                                             const dnnl::memory::desc& dst, bool adds) {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  if (adds) {
    dnnl::post_ops sum;
    sum.append_sum();
    attributes.set_post_ops(sum);
  }
  const dnnl::matmul::primitive_desc plan(onednn_engine(), src, weights, dst, attributes);
  auto product = std::make_shared<WinogradProduct>();
  product->weights = plan.weights_desc();
  product->scratchpad_bytes = plan.scratchpad_desc().get_size();
  product->runs = std::make_unique<PrimitiveRuns>(
      dnnl::matmul(plan), std::vector<PrimitiveRuns::Argument>{{DNNL_ARG_SRC, src},
                                                               {DNNL_ARG_WEIGHTS, product->weights},
                                                               {DNNL_ARG_DST, dst},
                                                               {DNNL_ARG_SCRATCHPAD, plan.scratchpad_desc()}});
  return product;
}

std::shared_ptr<const WinogradProduct> winograd_product_of(const WinogradProductKey& key) {
  static NoDestroy<PrimitiveCache<WinogradProductKey, WinogradProduct>> cache(kCachedWinogradProducts);
  const ThreadScope scope(1);
  return cache.get().get(key, [&] {
    const auto planes = [&](int64_t channels) {
      return dnnl::memory::desc({key.planes, key.tiles, channels}, dnnl::memory::data_type::f32,
                                dnnl::memory::dims{winograd_plane_stride(key.tiles, channels), channels, 1});
    };
    const dnnl::memory::desc any({key.planes, key.read, key.output}, dnnl::memory::data_type::f32,
                                 dnnl::memory::format_tag::any);
    return make_winograd_product(planes(key.read), any, planes(key.output), false);
  });
}

}  // namespace softnpu
