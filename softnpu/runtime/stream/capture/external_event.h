#pragma once
// External events in graphs. They are flags: a replay's record sets one, its reset clears it, its wait lasts until it
// is set, all when the replay comes to them, whoever sets it.

#include <memory>

#include "base/status.h"
#include "runtime/stream/event.h"

namespace softnpu {

// Appends the task to the capture of `stream`. `*is_captured` is false if the stream captures nothing.
Status capture_external_record(const Stream& stream, std::shared_ptr<Event> event, bool* is_captured);
Status capture_external_wait(const Stream& stream, std::shared_ptr<Event> event, bool* is_captured);
Status capture_external_reset(const Stream& stream, std::shared_ptr<Event> event, bool* is_captured);

}  // namespace softnpu
