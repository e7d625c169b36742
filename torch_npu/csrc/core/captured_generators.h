#pragma once
// The generators from which a graph draws. Its tasks read seed and offset from device memory, and add what the capture
// had drawn before them; a replay writes them first, so that it draws the numbers that the same calls would draw.

#include <acl/acl_mdl.h>
#include <c10/core/Stream.h>
#include <c10/util/intrusive_ptr.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "core/generator_state.h"

namespace torch_npu {

class CapturedGenerators {
 public:
  using State = c10::intrusive_ptr<GeneratorState>;

  CapturedGenerators() = default;
  CapturedGenerators(const CapturedGenerators&) = delete;
  CapturedGenerators& operator=(const CapturedGenerators&) = delete;
  ~CapturedGenerators();

  // Captures may draw from `state`. Allocates; not during a capture.
  void add(State state);

  // Between them the streams that are captured into `model` draw from these.
  void begin(aclmdlRI model);
  void end() noexcept;

  // Around the execution of the graph on `stream`, the current one. In another graph's capture they become part of it.
  void begin_replay(c10::Stream stream);
  void end_replay(c10::Stream stream);

 private:
  friend class CapturedDraws;
  struct Entry {
    State state;
    uint64_t drawn = 0;   // how far a replay advances its offset
    uint64_t before = 0;  // what the capture of another graph had drawn before this replay
  };
  std::vector<Entry> entries_;
  bool is_capturing_ = false;
};

// What one captured call draws: the offset is the number in memory plus `add`.
struct CapturedCounter {
  GeneratorState::Memory memory;
  uint64_t add = 0;
};

// Of a generator whose device's current stream is captured.
class CapturedDraws {
 public:
  // Null if that stream is not captured, or if its graph does not hold the generator.
  static std::optional<uint64_t> offset(const GeneratorState& state);
  static void set_offset(const GeneratorState& state, uint64_t offset);
  // Before the offset advances by `step`. Throws if the graph does not hold the generator.
  static CapturedCounter advance(const GeneratorState& state, uint64_t step);

 private:
  static CapturedGenerators::Entry* find(const GeneratorState& state);  // the registry's mutex is held
};

}  // namespace torch_npu
