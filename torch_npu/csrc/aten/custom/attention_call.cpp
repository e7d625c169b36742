#include "aten/custom/attention_call.h"

#include <algorithm>

#include "aten/custom/inputs.h"
#include "core/aclnn.h"

namespace torch_npu::custom {
namespace {

using at::Tensor;

constexpr aclnn_check::Dtypes kDtypes = dtypes({at::kHalf, at::kBFloat16, at::kFloat});
constexpr aclnn_check::Dtypes kMasks = dtypes({at::kBool, at::kByte});

// Modes of sparse_mode.
enum : int64_t { kDefault = 0, kAll = 1, kBand = 4, kPrefix = 5, kCompressedPrefix = 6, kLastBand = 7, kFirstBand = 8 };
constexpr int64_t kPattern = 2048;        // rows and columns of a compressed mask
constexpr int64_t kPrefixPattern = 3072;  // rows of that of kCompressedPrefix
constexpr int64_t kCompressedPse = 1024;  // rows of a compressed pse

// One call's sizes, which are known.
struct Sizes {
  int64_t batch, queries, keys, heads, key_heads, channels, value_channels;
};

Sizes known(const AttentionSizes& s) {
  const auto value = [](const c10::SymInt& n) { return n.guard_int(__FILE__, __LINE__); };
  return {value(s.batch),     value(s.queries),  value(s.keys),          value(s.heads),
          value(s.key_heads), value(s.channels), value(s.value_channels)};
}

Tensor given(const std::optional<Tensor>& tensor) { return tensor.has_value() ? *tensor : Tensor(); }

class Checker {
 public:
  explicit Checker(const AttentionArguments& arguments)
      : a_(arguments),
        layout_(attention_layout(a_.input_layout)),
        inputs_(a_.name, function(), aclnn_symbol(function()) != nullptr) {}

  AttentionCall run() {
    take_tensors();
    sizes_ = known(attention_sizes(a_.query, a_.key, a_.value, a_.head_num, layout_));
    check_sizes();
    check_numbers();
    check_sequences();
    check_pse();
    check_mask();
    return {a_.query,
            a_.key,
            a_.value,
            layout_,
            a_.head_num,
            given(a_.pse),
            given(a_.atten_mask),
            given(a_.sink),
            prefix_,
            ends_,
            key_ends_,
            a_.sparse_mode,
            !a_.softmax_layout.empty(),
            has_rest_,
            scores_};
  }

 private:
  static bool has(const std::optional<Tensor>& tensor) { return tensor.has_value() && tensor->defined(); }

  const char* function() const {
    return layout_.is_packed() ? "aclnnFlashAttentionVarLenScore" : "aclnnFlashAttentionScore";
  }

  void take_tensors() {
    inputs_.take("query", a_.query, kDtypes);
    const auto same = aclnn_check::dtype_bit(a_.query.scalar_type());
    inputs_.take("key", a_.key, same);
    inputs_.take("value", a_.value, same);
    inputs_.take("pse", a_.pse, same);
    inputs_.take("atten_mask", a_.atten_mask, kMasks);
    inputs_.take("sink", a_.sink, dtypes({at::kFloat}));
    TORCH_CHECK(!has(a_.padding_mask), a_.name,
                ": padding_mask is given, which is not supported: None is taken, atten_mask masks keys");
  }

  void check_sizes() const {
    const auto fits = [&](const Tensor& tensor) {
      return (layout_.is_packed() || tensor.size(layout_.batch) == sizes_.batch) &&
             tensor.size(layout_.position) == sizes_.keys &&
             (layout_.heads < 0 || tensor.size(layout_.heads) == sizes_.key_heads);
    };
    TORCH_CHECK(fits(a_.key) && (layout_.heads < 0 || a_.key.size(layout_.channels) == sizes_.channels), a_.name,
                ": key is of size ", a_.key.sizes(), " for a query of size ", a_.query.sizes(),
                ": batch and channels are the same");
    TORCH_CHECK(fits(a_.value), a_.name, ": value is of size ", a_.value.sizes(), " for a key of size ", a_.key.sizes(),
                ": only the channels may differ");
    TORCH_CHECK(sizes_.key_heads > 0 && sizes_.heads % sizes_.key_heads == 0, a_.name, ": head_num is ", a_.head_num,
                " where key has ", sizes_.key_heads, " heads: it is a multiple of them");
    TORCH_CHECK(sizes_.value_channels <= sizes_.channels, a_.name, ": value has ", sizes_.value_channels,
                " channels of a head: key has ", sizes_.channels, ", and value not more");
    TORCH_CHECK(!has(a_.sink) || (a_.sink->dim() == 1 && a_.sink->size(0) == sizes_.heads), a_.name,
                ": sink is of size ", has(a_.sink) ? a_.sink->sizes() : at::IntArrayRef(), ": [head_num], [",
                sizes_.heads, "], is taken");
  }

  void check_numbers() const {
    TORCH_CHECK(a_.keep_prob > 0 && a_.keep_prob <= 1, a_.name, ": keep_prob is ", a_.keep_prob,
                ": it is above 0 and up to 1");
    TORCH_CHECK(a_.inner_precise >= 0 && a_.inner_precise <= 2, a_.name, ": inner_precise is ", a_.inner_precise,
                ": 0, 1 and 2 are taken");
    if (layout_.is_packed()) {
      TORCH_CHECK(a_.sparse_mode >= kDefault && a_.sparse_mode <= kFirstBand && a_.sparse_mode != kPrefix, a_.name,
                  ": sparse_mode is ", a_.sparse_mode, ": 0 to 4 and 6 to 8 are taken with the layout TND");
    } else {
      TORCH_CHECK(a_.sparse_mode >= kDefault && a_.sparse_mode <= kCompressedPrefix, a_.name, ": sparse_mode is ",
                  a_.sparse_mode, ": 0 to 6 are taken with the layout ", layout_.name);
    }
    TORCH_CHECK(a_.softmax_layout.empty() || (a_.softmax_layout == "TND" && layout_.is_packed()), a_.name,
                ": softmax_layout is '", a_.softmax_layout, "': '' is taken, and 'TND' with that input_layout");
  }

  // Ends of sequences, without those at the end that do not take part.
  static at::IntArrayRef taking_part(at::IntArrayRef ends, at::IntArrayRef others) {
    std::size_t count = ends.size();
    while (count > 1 && ends[count - 1] == 0 && others[count - 1] == 0) --count;
    return ends.slice(0, count);
  }

  void check_ends(const char* role, at::IntArrayRef ends, int64_t length) const {
    int64_t last = 0;
    for (const int64_t end : ends) {
      TORCH_CHECK(end >= last && end <= length, a_.name, ": ", role, " is ", ends,
                  ": ends of sequences grow, from 0 up to ", length, ", the length of the tensor");
      last = end;
    }
  }

  void check_sequences() {
    const auto ends = a_.actual_seq_qlen.value_or(at::IntArrayRef());
    const auto key_ends = a_.actual_seq_kvlen.value_or(at::IntArrayRef());
    prefix_ = a_.prefix.value_or(at::IntArrayRef());
    if (!layout_.is_packed()) {
      TORCH_CHECK(ends.empty() && key_ends.empty(), a_.name, ": actual_seq_qlen is ", ends, " and actual_seq_kvlen ",
                  key_ends, ": only input_layout TND has them, not ", layout_.name);
      scores_ = sizes_.batch * sizes_.heads * sizes_.queries * sizes_.keys;
      sequences_ = sizes_.batch;
      longest_ = sizes_.queries;
      longest_keys_ = sizes_.keys;
      return;
    }
    TORCH_CHECK(!ends.empty() && ends.size() == key_ends.size(), a_.name, ": actual_seq_qlen has ", ends.size(),
                " ends and actual_seq_kvlen ", key_ends.size(),
                ": input_layout TND needs one of both for each sequence");
    ends_ = taking_part(ends, key_ends);
    key_ends_ = taking_part(key_ends, ends);
    check_ends("actual_seq_qlen", ends_, sizes_.queries);
    check_ends("actual_seq_kvlen", key_ends_, sizes_.keys);
    has_rest_ = ends_.back() < sizes_.queries || key_ends_.back() < sizes_.keys;
    sequences_ = static_cast<int64_t>(ends_.size());
    for (std::size_t i = 0; i < ends_.size(); ++i) {
      const int64_t queries = ends_[i] - (i > 0 ? ends_[i - 1] : 0);
      const int64_t keys = key_ends_[i] - (i > 0 ? key_ends_[i - 1] : 0);
      scores_ += sizes_.heads * queries * keys;
      longest_ = std::max(longest_, queries);
      longest_keys_ = std::max(longest_keys_, keys);
      has_rest_ = has_rest_ || queries == 0 || keys == 0;
      all_square_ = all_square_ && queries == keys;
    }
    if (prefix_.size() == ends.size()) prefix_ = prefix_.slice(0, ends_.size());
  }

  static bool is_one_or(int64_t size, int64_t wanted) { return size == 1 || size == wanted; }

  void check_pse() const {
    if (!has(a_.pse)) return;
    const Tensor& pse = *a_.pse;
    TORCH_CHECK(a_.sparse_mode < kLastBand, a_.name, ": pse is given with sparse_mode ", a_.sparse_mode,
                ", which takes none");
    const bool is_compressed = pse.dim() == 4 && pse.size(2) == kCompressedPse && longest_ > kCompressedPse;
    const bool fits = pse.dim() == 4 && is_one_or(pse.size(0), sequences_) && pse.size(1) == sizes_.heads &&
                      (is_compressed || is_one_or(pse.size(2), longest_)) && pse.size(3) == longest_keys_;
    TORCH_CHECK(fits, a_.name, ": pse is of size ", pse.sizes(), ": [", sequences_, " or 1, ", sizes_.heads, ", ",
                longest_, ", 1 or, above it, ", kCompressedPse, ", ", longest_keys_, "] is taken");
    const bool is_square = layout_.is_packed() ? all_square_ : sizes_.queries == sizes_.keys;
    TORCH_CHECK(!is_compressed || (is_square && has(a_.atten_mask) && a_.sparse_mode != kAll && a_.sparse_mode < kBand),
                a_.name, ": pse is of size ", pse.sizes(), ", the last ", kCompressedPse,
                " rows: this is taken for as many keys as queries and a causal mask, with sparse_mode 0, 2 or 3, not ",
                a_.sparse_mode);
  }

  void check_mask() const {
    check_prefix();
    if (!has(a_.atten_mask)) return;
    const Tensor& mask = *a_.atten_mask;
    const at::IntArrayRef sizes = mask.sizes();
    const int64_t n = mask.dim();
    if (a_.sparse_mode <= kAll || a_.sparse_mode == kPrefix) {
      const bool fits = (n == 2 || (n == 4 && !layout_.is_packed() && is_one_or(sizes[0], sizes_.batch) &&
                                    is_one_or(sizes[1], sizes_.heads))) &&
                        sizes[n - 2] == longest_ && sizes[n - 1] == longest_keys_;
      TORCH_CHECK(fits, a_.name, ": atten_mask is of size ", sizes, " with sparse_mode ", a_.sparse_mode, ": [",
                  longest_, ", ", longest_keys_, "]",
                  layout_.is_packed() ? "" : " is taken, and that behind batch or 1 and heads or 1");
      return;
    }
    const int64_t rows = a_.sparse_mode == kCompressedPrefix ? kPrefixPattern : kPattern;
    TORCH_CHECK(n >= 2 && sizes[n - 2] == rows && sizes[n - 1] == kPattern, a_.name, ": atten_mask is of size ", sizes,
                " with sparse_mode ", a_.sparse_mode, ", whose mask is compressed: [", rows, ", ", kPattern,
                "] is taken");
  }

  void check_prefix() const {
    if ((a_.sparse_mode != kPrefix && a_.sparse_mode != kCompressedPrefix) || !has(a_.atten_mask)) return;
    const auto prefix = a_.prefix.value_or(at::IntArrayRef());
    const auto listed = layout_.is_packed() ? a_.actual_seq_qlen->size() : static_cast<std::size_t>(sizes_.batch);
    const auto fits = [&](int64_t n) { return n >= 0 && n <= longest_keys_; };
    TORCH_CHECK(prefix.size() == listed && std::all_of(prefix.begin(), prefix.end(), fits), a_.name, ": prefix is ",
                prefix, " with sparse_mode ", a_.sparse_mode, ": ", listed, " numbers from 0 to ", longest_keys_,
                " are taken, one for each sequence");
  }

  const AttentionArguments& a_;
  AttentionLayout layout_;
  Inputs inputs_;
  Sizes sizes_{};
  at::IntArrayRef ends_, key_ends_, prefix_;
  bool has_rest_ = false, all_square_ = true;
  int64_t scores_ = 0, sequences_ = 0, longest_ = 0, longest_keys_ = 0;
};

}  // namespace

AttentionCall attention_call(const AttentionArguments& arguments) { return Checker(arguments).run(); }

void check_dropout_mask(const Tensor& mask, const Tensor& query, int64_t scores) {
  constexpr int64_t kBits = 8;
  TORCH_CHECK(mask.device() == query.device() && mask.scalar_type() == at::kByte && mask.is_contiguous() &&
                  mask.numel() >= (scores + kBits - 1) / kBits,
              "npu_fusion_attention: dropout_mask is a tensor of ", mask.scalar_type(), ", size ", mask.sizes(), " on ",
              mask.device(), ": uint8 without gaps is taken, of ", (scores + kBits - 1) / kBits,
              " bytes or more, as torch_npu._npu_dropout_gen_mask gives them");
}

void check_like(const char* role, const std::optional<Tensor>& tensor, const Tensor& query,
                const shapes::Output& wanted) {
  const auto sizes = C10_AS_INTARRAYREF_SLOW(c10::SymIntArrayRef(wanted.sizes));
  const auto type = c10::typeMetaToScalarType(wanted.options.dtype());
  TORCH_CHECK(tensor.has_value() && tensor->defined(), "npu_fusion_attention_grad: ", role,
              " is not given: the forward pass returns it, of size ", sizes);
  TORCH_CHECK(tensor->device() == query.device() && tensor->scalar_type() == type && tensor->sizes() == sizes,
              "npu_fusion_attention_grad: ", role, " is a tensor of ", tensor->scalar_type(), ", size ",
              tensor->sizes(), " on ", tensor->device(), ": ", type, " of size ", sizes, " on ", query.device(),
              " is taken");
}

}  // namespace torch_npu::custom
