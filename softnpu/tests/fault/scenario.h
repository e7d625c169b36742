#pragma once
// A program's use of devices, from setup to reset. It allocates nothing itself: every failing call is the runtime's.

namespace fault {

enum class Outcome { kDone, kRefused, kBroken };

// kRefused: a call failed with a code and a message. kBroken: a call failed without a message, or data were wrong; the
// reason is on stderr.
Outcome run_scenario();

// Releases what a refused run left. Afterwards both devices must be reset and all their memory free.
bool clean_up();

}  // namespace fault
