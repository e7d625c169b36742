#pragma once
// Sends and receives that progress together: one call, or a group of them.

#include <vector>

#include "ccl/buffer.h"
#include "ccl/operation.h"

namespace softnpu::ccl {

struct Transfer {
  bool is_send = false;
  uint32_t other = 0;  // the rank
  Call call;
  Buffer buffer;
};

class Transfers final : public Operation {
 public:
  // `comm->order()` is held until the launch.
  Transfers(const std::shared_ptr<Communicator>& comm, Operator op, const std::vector<Transfer>& transfers);

  // Before the launch, what may fail.
  Status prepare();

 private:
  enum class Stage { kBefore, kPosted, kDone };
  struct Item {
    Transfer transfer;
    uint64_t number = 0;             // among those from this rank to that one
    Stage stage = Stage::kBefore;    // a receive is never kPosted
    const char* original = nullptr;  // of data that is copied to where other ranks can read it
    std::shared_ptr<void> staged;
  };

  Status proceed(bool* done) override;
  bool is_ready() const noexcept override;
  bool is_hopeless() const noexcept override;
  Status explain(bool is_late) const override;
  std::string describe() const override;
  std::string trace_detail() const override;

  Channel& channel(const Item& item) const;
  bool can_proceed(const Item& item) const noexcept;
  Status proceed(Item* item);
  Status receive(const Item& item, Channel* channel) const;
  std::string describe(const Item& item) const;

  std::vector<Item> items_;
};

}  // namespace softnpu::ccl
