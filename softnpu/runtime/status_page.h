#pragma once
// This process's status page (base/status_layout.h).

#include <cstdint>

#include "base/status_layout.h"

namespace softnpu {

template <typename T>
class NoDestroy;

class StatusPage {
 public:
  // The one instance; the first call creates the page. Where the system refuses it, nobody sees the process.
  static StatusPage& get();

  StatusPage(const StatusPage&) = delete;
  StatusPage& operator=(const StatusPage&) = delete;

  // What the process says of device `id`, 0 to 15.
  DeviceStatus& device(int32_t id) { return layout_->devices.at(static_cast<size_t>(id)); }

 private:
  template <typename T>
  friend class NoDestroy;
  StatusPage();
  // Maps a shared page; false if the system refuses.
  bool share();

  StatusLayout private_;
  StatusLayout* layout_ = &private_;
};

}  // namespace softnpu
