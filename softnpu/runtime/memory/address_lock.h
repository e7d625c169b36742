#pragma once
// A readers-writer lock over address validity. Code that accesses memory through checked addresses holds it shared
// (AddressHold); code that frees or unmaps memory holds it exclusively (AddressChange). Not recursive: a thread takes
// neither while it holds one of them.

#include <mutex>
#include <shared_mutex>

namespace softnpu {

class AddressLock {
 public:
  static AddressLock& get();

 private:
  friend class AddressHold;
  friend class AddressChange;
  std::mutex turn_;  // taken before in_use_, so that new holders cannot starve a change
  std::shared_mutex in_use_;
};

class AddressHold {
 public:
  AddressHold() : lock_(AddressLock::get()) {
    { std::lock_guard turn(lock_.turn_); }
    lock_.in_use_.lock_shared();
  }
  AddressHold(const AddressHold&) = delete;
  AddressHold& operator=(const AddressHold&) = delete;
  ~AddressHold() { lock_.in_use_.unlock_shared(); }

 private:
  AddressLock& lock_;
};

class AddressChange {
 public:
  AddressChange() : turn_(AddressLock::get().turn_), alone_(AddressLock::get().in_use_) {}

 private:
  std::lock_guard<std::mutex> turn_;
  std::lock_guard<std::shared_mutex> alone_;
};

}  // namespace softnpu
