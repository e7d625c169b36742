// Products of matrices.

#include <algorithm>
#include <bit>
#include <map>

#include "base/text.h"
#include "graph/lower/rows.h"

namespace softnpu::graph {
namespace {

// As numpy.matmul: tensors of one dimension are rows or columns.
ValueId product(Builder& build, ValueId a, ValueId b) {
  const bool is_row = build.rank(a) == 1;
  const bool is_column = build.rank(b) == 1;
  if (build.rank(a) == 0 || build.rank(b) == 0) throw Refused("a factor has no dimensions");
  if (is_row) a = build.view(a, {1, -1});
  if (is_column) b = build.view(b, {-1, 1});
  ValueId y = kNoValue;
  if (build.rank(b) == 2 && build.rank(a) >= 2) {
    // The batch dimensions are rows.
    Ints sizes = build.sizes(a);
    const int64_t depth = sizes.back();
    if (depth != build.dims(b)[0]) throw Refused(text("inner sizes ", depth, " and ", build.dims(b)[0], " differ"));
    sizes.back() = build.dims(b)[1];
    const int64_t rows = element_count(Dims(sizes.begin(), sizes.end() - 1));
    y = build.view(build.emit("MatMulV2", {{build.view(a, {rows, depth})}, {b}}), sizes);
  } else {
    y = build.emit("BatchMatMulV2", {{a}, {b}});
  }
  if (!is_row && !is_column) return y;
  Ints sizes = build.sizes(y);
  if (is_column) sizes.pop_back();
  if (is_row) sizes.erase(sizes.end() - (is_column ? 1 : 2));
  return build.view(y, sizes);
}

// Integers are multiplied in double precision, which is exact below 2^53.
ValueId exact_product(Builder& build, ValueId a, ValueId b) {
  const aclDataType dtype = build.dtype(a);
  if (is_floating(dtype)) return product(build, a, b);
  return build.cast(product(build, build.cast(a, ACL_DOUBLE), build.cast(b, ACL_DOUBLE)), dtype);
}

void matmul(Call& call) { call.set(exact_product(call.build(), call.in(0), call.in(1))); }

void gemm(Call& call) {
  Builder& build = call.build();
  const double alpha = call.real("alpha", 1);
  const double beta = call.real("beta", 1);
  const aclDataType dtype = build.dtype(call.in(0));
  const bool is_exact = !is_floating(dtype);
  const auto operand = [&](size_t i) { return is_exact ? build.cast(call.in(i), ACL_DOUBLE) : call.in(i); };
  std::vector<Operand> inputs = {{operand(0)}, {operand(1)}};
  const bool has_bias = call.has(2) && beta != 0;
  const bool is_plain = alpha == 1 && beta == 1 && has_bias;
  if (is_plain) inputs.push_back({operand(2)});
  ValueId y =
      build.emit("MatMulV2", inputs,
                 {{"transpose_x1", call.integer("transA", 0) != 0}, {"transpose_x2", call.integer("transB", 0) != 0}});
  if (alpha != 1) y = build.scaled(y, alpha);
  if (has_bias && !is_plain) {
    const ValueId bias = beta == 1 ? operand(2) : build.scaled(operand(2), beta);
    y = build.add(y, bias);
  }
  call.set(build.cast(y, dtype));
}

// ---- Einsum: one product of two operands at a time, over matrices.

struct Term {
  ValueId id;
  std::string labels;  // one a dimension
};

// The diagonal of dimensions with the same label.
Term without_repeats(Builder& build, Term term) {
  for (size_t i = 0; i < term.labels.size(); ++i) {
    const size_t j = term.labels.find(term.labels[i], i + 1);
    if (j == std::string::npos) continue;
    const int64_t size = build.dims(term.id)[i];
    if (build.dims(term.id)[j] != size) throw Refused("dimensions with one label differ in size");
    Ints order;
    for (size_t k = 0; k < term.labels.size(); ++k) {
      if (k != i && k != j) order.push_back(static_cast<int64_t>(k));
    }
    Ints rest;
    for (const int64_t k : order) rest.push_back(build.dims(term.id)[k]);
    order.insert(order.begin(), {static_cast<int64_t>(i), static_cast<int64_t>(j)});
    const ValueId front = build.transpose(term.id, order);
    Ints flat = {size * size};
    flat.insert(flat.end(), rest.begin(), rest.end());
    Ints positions;
    for (int64_t k = 0; k < size; ++k) positions.push_back(k * size + k);
    std::string labels(1, term.labels[i]);
    for (size_t k = 2; k < order.size(); ++k) labels += term.labels[order[k]];
    return without_repeats(build, {build.take(build.view(front, flat), 0, positions), labels});
  }
  return term;
}

// Sums over labels that nothing else needs.
Term summed(Builder& build, Term term, const std::string& needed) {
  Ints axes;
  std::string kept;
  for (size_t i = 0; i < term.labels.size(); ++i) {
    if (needed.find(term.labels[i]) == std::string::npos) {
      axes.push_back(static_cast<int64_t>(i));
    } else {
      kept += term.labels[i];
    }
  }
  if (axes.empty()) return term;
  return {build.reduce("ReduceSum", term.id, axes, false), kept};
}

ValueId ordered(Builder& build, const Term& term, const std::string& labels) {
  Ints order;
  for (const char label : labels) order.push_back(static_cast<int64_t>(term.labels.find(label)));
  return build.transpose(term.id, order);
}

Term multiplied(Builder& build, const Term& a, const Term& b, const std::string& needed) {
  std::string batch;
  std::string rows;
  std::string inner;
  std::string columns;
  std::map<char, int64_t> sizes;
  for (size_t i = 0; i < a.labels.size(); ++i) {
    const char label = a.labels[i];
    sizes[label] = build.dims(a.id)[i];
    const bool is_shared = b.labels.find(label) != std::string::npos;
    (!is_shared ? rows : needed.find(label) != std::string::npos ? batch : inner) += label;
  }
  for (size_t i = 0; i < b.labels.size(); ++i) {
    const char label = b.labels[i];
    if (sizes.contains(label) && sizes[label] != build.dims(b.id)[i]) throw Refused("sizes of one label differ");
    sizes[label] = build.dims(b.id)[i];
    if (a.labels.find(label) == std::string::npos) columns += label;
  }
  const auto count = [&](const std::string& labels) {
    int64_t product = 1;
    for (const char label : labels) product *= sizes[label];
    return product;
  };
  const ValueId x = build.view(ordered(build, a, batch + rows + inner), {count(batch), count(rows), count(inner)});
  const ValueId y =
      build.view(ordered(build, b, batch + inner + columns), {count(batch), count(inner), count(columns)});
  const std::string labels = batch + rows + columns;
  Ints dims;
  for (const char label : labels) dims.push_back(sizes[label]);
  return {build.view(build.emit("BatchMatMulV2", {{x}, {y}}), dims), labels};
}

void einsum(Call& call) {
  Builder& build = call.build();
  std::string equation = call.words("equation", "");
  std::erase(equation, ' ');
  const size_t arrow = equation.find("->");
  const std::string left = equation.substr(0, arrow);
  std::vector<std::string> parts(1);
  for (const char c : left) {
    if (c == ',') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  if (parts.size() != call.count()) throw Refused("the equation has another number of operands");
  // Dimensions of an ellipsis get labels of their own, the last one first.
  size_t most = 0;
  const auto expand = [&](std::string labels, size_t dims) {
    const size_t at = labels.find("...");
    if (at == std::string::npos) return labels;
    std::string own;
    for (size_t i = dims; i-- > 0;) own += static_cast<char>('\x80' + i);
    return labels.replace(at, 3, own);
  };
  std::vector<Term> terms;
  for (size_t i = 0; i < parts.size(); ++i) {
    const auto rank = static_cast<size_t>(build.rank(call.in(i)));
    const size_t named = static_cast<size_t>(std::ranges::count_if(parts[i], [](char c) { return c != '.'; }));
    const size_t extra = parts[i].find("...") == std::string::npos ? 0 : rank - named;
    if (named + extra != rank) throw Refused("the equation has another number of dimensions");
    most = std::max(most, extra);
    terms.push_back(without_repeats(build, {call.in(i), expand(parts[i], extra)}));
  }
  std::string result;
  if (arrow != std::string::npos) {
    result = expand(equation.substr(arrow + 2), most);
  } else {
    std::map<char, int> uses;
    for (const char c : left) {
      if (c != ',' && c != '.') ++uses[c];
    }
    result = expand("...", most);
    for (const auto& [label, times] : uses) {
      if (times == 1) result += label;
    }
  }
  Term all = terms[0];
  for (size_t i = 1; i <= terms.size(); ++i) {
    std::string needed = result;
    for (size_t j = i; j < terms.size(); ++j) needed += terms[j].labels;
    all = summed(build, all, needed);
    if (i < terms.size()) {
      std::string behind = result;
      for (size_t j = i + 1; j < terms.size(); ++j) behind += terms[j].labels;
      const Term next = summed(build, terms[i], behind + all.labels);
      all = multiplied(build, all, next, behind);
    }
  }
  call.set(ordered(build, all, result));
}

// Of matrices [.., n, n], by the rows' expansions: D(columns) of the first k rows from those of k - 1 rows.
void determinant(Call& call) {
  constexpr int64_t kMaxSize = 8;  // 8 * 2^7 products
  Builder& build = call.build();
  const ValueId x = call.in(0);
  const Ints sizes = build.sizes(x);
  const int64_t n = sizes.size() < 2 ? 0 : sizes.back();
  if (n < 1 || sizes[sizes.size() - 2] != n) throw Refused("square matrices are needed");
  if (n > kMaxSize) throw Refused(text("matrices of up to ", kMaxSize, " rows are implemented"));
  const ValueId all = build.view(x, {-1, n * n});
  const auto element = [&](int64_t row, int64_t column) {
    return build.slice(all, 1, row * n + column, row * n + column + 1);
  };
  std::vector<ValueId> minors(size_t{1} << n, kNoValue);
  for (uint32_t columns = 1; columns < uint32_t{1} << n; ++columns) {
    const int64_t row = std::popcount(columns) - 1;
    for (int64_t column = 0; column < n; ++column) {
      const uint32_t bit = uint32_t{1} << column;
      if ((columns & bit) == 0) continue;
      ValueId term = element(row, column);
      if (row > 0) term = build.mul(term, minors[columns & ~bit]);
      const bool is_negative = std::popcount(columns >> (column + 1)) % 2 != 0;
      ValueId& sum = minors[columns];
      if (sum == kNoValue) {
        sum = is_negative ? build.emit("Neg", {{term}}) : term;
      } else {
        sum = is_negative ? build.sub(sum, term) : build.add(sum, term);
      }
    }
  }
  call.set(build.view(minors.back(), {sizes.begin(), sizes.end() - 2}));
}

constexpr LowerRow kRows[] = {
    {"MatMul", matmul},
    {"Gemm", gemm},
    {"Einsum", einsum},
    {"Det", determinant},
};

}  // namespace

std::span<const LowerRow> matmul_rows() { return kRows; }

}  // namespace softnpu::graph
