#include "ascendc/timeline/simulation.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <queue>
#include <tuple>
#include <utility>

#include "ascendc/sanitizer/report.h"

namespace softnpu::kernel::timeline {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

// Copies that share the bandwidth of global memory: each goes on at the same rate, so that one number counts the bytes
// that each has moved since the begin.
class SharedBandwidth {
 public:
  // In bytes a cycle.
  SharedBandwidth(double of_all, double of_one) : of_all_(of_all), of_one_(of_one) {}

  struct Transfer {
    double until;  // of moved_
    uint32_t block;
    Pipe pipe;
    bool operator>(const Transfer& other) const {
      return std::tie(until, block, pipe) > std::tie(other.until, other.block, other.pipe);
    }
  };

  void advance(double cycles) {
    if (!transfers_.empty()) moved_ += cycles * rate();
  }
  void begin(uint32_t block, Pipe pipe, double bytes) { transfers_.push({moved_ + bytes, block, pipe}); }
  // Cycles until the next one ends.
  double next() const {
    return transfers_.empty() ? kNever : std::max(0.0, (transfers_.top().until - moved_) / rate());
  }
  Transfer pop() {
    const Transfer first = transfers_.top();
    transfers_.pop();
    moved_ = std::max(moved_, first.until);
    return first;
  }

 private:
  double rate() const { return std::min(of_one_, of_all_ / static_cast<double>(transfers_.size())); }

  double of_all_;
  double of_one_;
  double moved_ = 0;
  std::priority_queue<Transfer, std::vector<Transfer>, std::greater<>> transfers_;
};

// A block that runs.
struct Running {
  struct Unit {
    std::deque<uint32_t> steps;  // of the trace, given out and not done
    bool is_busy = false;
    double begin = 0;         // of what it does
    double idle = 0;          // since when it does nothing
    bool is_meeting = false;  // kS: it is busy with other blocks
  };
  const BlockTrace* trace = nullptr;
  uint32_t next = 0;         // step of the scalar unit
  bool is_issued = false;    // the scalar unit has spent the time of giving it out
  bool has_arrived = false;  // in SyncAll
  bool is_parked = false;    // has given its core to another block
  uint64_t phase = 0;        // how many SyncAll it has passed
  std::array<Unit, kPipes> units;
  std::array<uint16_t, check::kFlags> sets{};
};

class Simulation {
 public:
  Simulation(const std::vector<std::unique_ptr<BlockTrace>>& blocks, const Figures& figures)
      : traces_(blocks),
        figures_(figures),
        memory_(figures.hbm_bandwidth / figures.frequency, figures.core_bandwidth / figures.frequency),
        running_(blocks.size()) {
    outcome_.core_of_block.resize(blocks.size());
    const auto cores = static_cast<uint32_t>(std::min<double>(figures.cores, static_cast<double>(blocks.size())));
    outcome_.cores = cores;
    for (uint32_t core = cores; core > 0; --core) free_cores_.push_back(core - 1);
  }

  Outcome run() {
    begin_blocks();
    while (true) {
      const double timed = events_.empty() ? kNever : events_.top().time;
      const double moved = now_ + memory_.next();
      if (timed == kNever && moved == kNever) break;
      const double time = std::min(timed, moved);
      memory_.advance(time - now_);
      now_ = time;
      if (moved <= timed) {
        const auto transfer = memory_.pop();
        finish_work(transfer.block, transfer.pipe);
        progress(transfer.block);
      } else {
        const Event event = events_.top();
        events_.pop();
        on_event(event);
      }
    }
    outcome_.cycles = now_;
    outcome_.is_complete = ended_ == traces_.size();
    return std::move(outcome_);
  }

 private:
  struct Event {
    double time;
    uint64_t number;  // ties go by it
    uint32_t block;
    Pipe pipe;
    bool operator>(const Event& other) const { return std::tie(time, number) > std::tie(other.time, other.number); }
  };

  void after(double cycles, uint32_t block, Pipe pipe) {
    events_.push({now_ + cycles, events_created_++, block, pipe});
  }

  void begin_blocks() {
    if (is_beginning_) return;  // the loop below goes on
    is_beginning_ = true;
    while (!free_cores_.empty() && next_block_ < traces_.size()) {
      const uint32_t block = next_block_++;
      outcome_.core_of_block[block] = free_cores_.back();
      free_cores_.pop_back();
      running_[block] = std::make_unique<Running>();
      running_[block]->trace = traces_[block].get();
      for (auto& unit : running_[block]->units) unit.idle = now_;
      progress(block);
    }
    is_beginning_ = false;
  }

  void on_event(const Event& event) {
    Running& self = *running_[event.block];
    Running::Unit& unit = self.units[static_cast<int>(event.pipe)];
    if (event.pipe == Pipe::kS) {
      unit.is_busy = false;
      if (!unit.is_meeting) add_busy(Pipe::kS, unit.begin);
      unit.is_meeting = false;
      unit.idle = now_;
      self.is_issued = true;
    } else {
      const Step& step = self.trace->steps()[unit.steps.front()];
      if (step.lines > 0) {
        memory_.begin(event.block, event.pipe, static_cast<double>(step.lines));
        return;
      }
      finish_work(event.block, event.pipe);
    }
    progress(event.block);
  }

  void add_busy(Pipe pipe, double begin) { outcome_.busy[static_cast<int>(pipe)] += now_ - begin; }

  void keep(uint32_t block, uint32_t site, Pipe pipe, double begin) {
    if (outcome_.slices.size() >= Outcome::kMaxSlices) {
      outcome_.is_cut = true;
      return;
    }
    outcome_.slices.push_back({block, site, pipe, begin, now_});
  }

  void finish_work(uint32_t block, Pipe pipe) {
    Running& self = *running_[block];
    Running::Unit& unit = self.units[static_cast<int>(pipe)];
    const Step& step = self.trace->steps()[unit.steps.front()];
    unit.steps.pop_front();
    unit.is_busy = false;
    add_busy(pipe, unit.begin);
    keep(block, step.site, pipe, unit.begin);
    if (step.lines > 0) {
      const auto bytes = static_cast<double>(step.lines);
      outcome_.global_bytes += bytes;
      const double alone =
          step.cycles + bytes * figures_.frequency / std::min(figures_.core_bandwidth, figures_.hbm_bandwidth);
      wait(std::string(check::name_of(pipe)) + " for the bandwidth of global memory", now_ - unit.begin - alone);
    }
    unit.idle = now_;
  }

  void wait(const std::string& cause, double cycles) {
    constexpr double kLeast = 1e-6;
    if (cycles > kLeast) outcome_.waits[cause] += cycles;
  }
  void wait_for_flag(Pipe pipe, Running::Unit* unit, const check::Flag& flag) {
    wait(std::string(check::name_of(pipe)) + " for " + check::name_of(flag.from), now_ - unit->idle);
    unit->idle = now_;
  }

  // Lets the block's units go on as far as they can now.
  void progress(uint32_t block) {
    Running& self = *running_[block];
    for (bool goes_on = true; goes_on;) {
      goes_on = step_scalar(block, &self);
      for (int i = 0; i < kPipes; ++i) {
        const auto pipe = static_cast<Pipe>(i);
        if (pipe != Pipe::kS) goes_on = step_pipe(block, &self, pipe) || goes_on;
      }
    }
    if (self.next < self.trace->steps().size() || is_working(self)) return;
    ++ended_;
    const uint32_t core = outcome_.core_of_block[block];
    const bool has_core = !self.is_parked;
    running_[block] = nullptr;
    if (!has_core) return;
    free_cores_.push_back(core);
    begin_blocks();
  }

  static bool is_working(const Running& self) {
    return std::any_of(self.units.begin(), self.units.end(),
                       [](const Running::Unit& unit) { return unit.is_busy || !unit.steps.empty(); });
  }

  bool step_scalar(uint32_t block, Running* self) {
    Running::Unit& unit = self->units[static_cast<int>(Pipe::kS)];
    if (unit.is_busy || self->next >= self->trace->steps().size()) return false;
    const Step& step = self->trace->steps()[self->next];
    if (!self->is_issued) {
      const bool is_scalar = step.kind == Step::Kind::kWork && step.pipe == Pipe::kS;
      unit.is_busy = true;
      unit.begin = now_;
      after(is_scalar ? step.cycles : figures_.issue, block, Pipe::kS);
      return false;
    }
    if (!pass(block, self, step)) return false;
    self->is_issued = false;
    ++self->next;
    return true;
  }

  // Whether the scalar unit goes on behind `step`.
  bool pass(uint32_t block, Running* self, const Step& step) {
    Running::Unit& unit = self->units[static_cast<int>(Pipe::kS)];
    const auto give = [&](Pipe pipe) {
      Running::Unit& to = self->units[static_cast<int>(pipe)];
      if (to.steps.empty() && !to.is_busy && step.kind == Step::Kind::kWork) {
        wait(std::string(check::name_of(pipe)) + " for the scalar unit", now_ - to.idle);
        to.idle = now_;
      }
      to.steps.push_back(self->next);
    };
    switch (step.kind) {
      case Step::Kind::kWork:
        if (step.pipe == Pipe::kS)
          keep(block, step.site, Pipe::kS, unit.begin);
        else
          give(step.pipe);
        return true;
      case Step::Kind::kSet:
        if (step.flag.from == Pipe::kS)
          ++self->sets[step.flag.index()];
        else
          give(step.flag.from);
        return true;
      case Step::Kind::kWait:
        if (step.flag.to != Pipe::kS) {
          give(step.flag.to);
          return true;
        }
        if (self->sets[step.flag.index()] == 0) return false;
        --self->sets[step.flag.index()];
        wait_for_flag(Pipe::kS, &unit, step.flag);
        return true;
      case Step::Kind::kBarrier:
        if (is_working_besides_scalar(*self)) return false;
        // At the end of the block there is nothing that it waits for them with.
        if (self->next + 1 < self->trace->steps().size()) wait("S for all pipes", now_ - unit.idle);
        unit.idle = now_;
        return true;
      case Step::Kind::kSyncAll: return pass_sync_all(block, self);
      case Step::Kind::kGiveSignal:
        ++signals_[step.signal];
        wake_takers(step.signal);
        return true;
      case Step::Kind::kTakeSignal: return pass_signal(block, self, step.signal);
    }
    return true;
  }

  static bool is_working_besides_scalar(const Running& self) {
    return std::any_of(self.units.begin() + 1, self.units.end(),
                       [](const Running::Unit& unit) { return unit.is_busy || !unit.steps.empty(); });
  }

  void park(uint32_t block, Running* self) {
    if (self->is_parked) return;
    self->is_parked = true;
    free_cores_.push_back(outcome_.core_of_block[block]);
  }

  // The scalar unit of a block that waited for others goes on after `cycles`.
  void broadcast_and_promote(uint32_t block, double cycles) {
    Running::Unit& unit = running_[block]->units[static_cast<int>(Pipe::kS)];
    unit.is_busy = unit.is_meeting = true;
    wait("S for other blocks", now_ + cycles - unit.idle);
    after(cycles, block, Pipe::kS);
  }

  bool pass_sync_all(uint32_t block, Running* self) {
    if (self->has_arrived && released_ > self->phase) {
      self->has_arrived = false;
      ++self->phase;
      return true;
    }
    if (self->has_arrived) return false;
    self->has_arrived = true;
    waiting_.push_back(block);
    if (++arrived_ == traces_.size()) {
      arrived_ = 0;
      ++released_;
      for (const uint32_t other : std::exchange(waiting_, {})) {
        // The scalar unit of each takes the time of meeting.
        broadcast_and_promote(other, figures_.sync_all);
      }
    } else if (next_block_ < traces_.size()) {
      park(block, self);
      begin_blocks();
    }
    return false;
  }

  bool pass_signal(uint32_t block, Running* self, uint64_t signal) {
    uint64_t& sets = signals_[signal];
    if (sets > 0) {
      --sets;
      return true;
    }
    std::vector<uint32_t>& takers = takers_[signal];
    if (std::find(takers.begin(), takers.end(), block) == takers.end()) takers.push_back(block);
    if (next_block_ < traces_.size()) {
      park(block, self);
      begin_blocks();
    }
    return false;
  }

  // Those who wait try again, as an event of their own.
  void wake_takers(uint64_t signal) {
    for (const uint32_t block : std::exchange(takers_[signal], {})) broadcast_and_promote(block, 0);
  }

  bool step_pipe(uint32_t block, Running* self, Pipe pipe) {
    Running::Unit& unit = self->units[static_cast<int>(pipe)];
    if (unit.is_busy || unit.steps.empty()) return false;
    const Step& step = self->trace->steps()[unit.steps.front()];
    switch (step.kind) {
      case Step::Kind::kSet: ++self->sets[step.flag.index()]; break;
      case Step::Kind::kWait:
        if (self->sets[step.flag.index()] == 0) return false;
        --self->sets[step.flag.index()];
        wait_for_flag(pipe, &unit, step.flag);
        break;
      default:
        unit.is_busy = true;
        unit.begin = now_;
        after(step.cycles, block, pipe);
        return false;
    }
    unit.steps.pop_front();
    return true;
  }

  const std::vector<std::unique_ptr<BlockTrace>>& traces_;
  const Figures& figures_;
  SharedBandwidth memory_;
  std::vector<std::unique_ptr<Running>> running_;  // null: not begun, or ended
  std::vector<uint32_t> free_cores_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::map<uint64_t, uint64_t> signals_;              // given and not taken
  std::map<uint64_t, std::vector<uint32_t>> takers_;  // blocks that wait
  std::vector<uint32_t> waiting_;                     // in SyncAll
  uint64_t events_created_ = 0;
  uint64_t released_ = 0;
  size_t arrived_ = 0;
  size_t ended_ = 0;
  uint32_t next_block_ = 0;
  bool is_beginning_ = false;
  double now_ = 0;
  Outcome outcome_;
};

}  // namespace

Outcome simulate(const std::vector<std::unique_ptr<BlockTrace>>& blocks, const Figures& figures) {
  return Simulation(blocks, figures).run();
}

}  // namespace softnpu::kernel::timeline
