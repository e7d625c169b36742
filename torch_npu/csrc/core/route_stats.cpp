#include "core/route_stats.h"

#include <ATen/record_function.h>
#include <c10/util/ApproximateClock.h>
#include <c10/util/Exception.h>

#include <memory>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "core/trace.h"

namespace torch_npu::route_stats {
namespace {

struct Frame {
  std::string op;
  const char* kernel = "";
  Route route = Route::kNone;
  bool calls_others = false;
  int64_t start_ns = 0;
  int64_t inner_ns = 0;
};

struct Counter {
  at::CallbackHandle callback = at::INVALID_CALLBACK_HANDLE;
  std::vector<Frame> frames;
  std::vector<Row> rows;
  std::unordered_map<std::string, std::size_t> places;  // row index by operator, route and kernel
};

thread_local std::unique_ptr<Counter> counter;

// Ranges that are not operators have none: steps of autograd, names that programs give.
bool is_operator(const at::RecordFunction& function) { return function.operator_name().has_value(); }

std::unique_ptr<at::ObserverContext> enter(const at::RecordFunction& function) {
  if (counter != nullptr && is_operator(function)) {
    counter->frames.push_back({.op = c10::toString(*function.operator_name()), .start_ns = c10::getTime()});
  }
  return nullptr;
}

// The row of `key`; `result` becomes it if there is none.
Row& row_of(std::string key, Row result) {
  const auto [location, is_new] = counter->places.emplace(std::move(key), counter->rows.size());
  if (is_new) counter->rows.push_back(std::move(result));
  return counter->rows[location->second];
}

void leave(const at::RecordFunction& function, at::ObserverContext*) {
  if (counter == nullptr || counter->frames.empty() || !is_operator(function)) return;
  const Frame frame = std::move(counter->frames.back());
  counter->frames.pop_back();
  const int64_t total = c10::getTime() - frame.start_ns;
  if (!counter->frames.empty()) {
    counter->frames.back().inner_ns += total;
    counter->frames.back().calls_others = true;
  }
  const bool is_composite = frame.route == Route::kNone && frame.calls_others;
  std::string key =
      frame.op + '\n' + frame.kernel + '\n' + std::to_string(static_cast<int>(frame.route)) + (is_composite ? "c" : "");
  Row& row = row_of(std::move(key),
                    {.op = frame.op, .kernel = frame.kernel, .route = frame.route, .calls_others = is_composite});
  row.calls += 1;
  row.total_ns += total;
  row.self_ns += total - frame.inner_ns;
}

}  // namespace

void start() {
  TORCH_CHECK(counter == nullptr, "this thread's operators are being explained already: explain() does not nest");
  auto result = std::make_unique<Counter>();
  result->callback =
      at::addThreadLocalCallback(at::RecordFunctionCallback(&enter, &leave).scopes({at::RecordScope::FUNCTION}));
  counter = std::move(result);
  trace::detail::watchers.fetch_add(1, std::memory_order_relaxed);
}

std::vector<Row> stop() {
  if (counter == nullptr) return {};
  const std::unique_ptr<Counter> ended = std::move(counter);
  trace::detail::watchers.fetch_sub(1, std::memory_order_relaxed);
  at::removeCallback(ended->callback);
  return std::move(ended->rows);
}

void mark(Route route, const char* kernel) noexcept {
  if (counter == nullptr || counter->frames.empty()) return;
  Frame& frame = counter->frames.back();
  if (route < frame.route) return;
  if (route > frame.route || *frame.kernel == '\0') frame.kernel = kernel;
  frame.route = route;
}

void add_generated(const char* kernel) {
  if (counter == nullptr) return;
  row_of(kernel, {.op = "inductor", .kernel = kernel, .route = Route::kGenerated}).calls += 1;
}

bool counts() noexcept { return counter != nullptr; }

}  // namespace torch_npu::route_stats
