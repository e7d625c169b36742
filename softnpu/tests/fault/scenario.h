#pragma once
// What a program does with a device, from setting it up to resetting it. It allocates nothing of its own, so that every
// call that fails meanwhile is the runtime's.

namespace fault {

enum class Outcome { kDone, kRefused, kBroken };

// kRefused: some call failed with a code and a message. kBroken: it failed without a message, or data were wrong; the
// reason is on stderr.
Outcome run_scenario();

// Gives back what a refused run left: it ends with both devices reset and all their memory free.
bool clean_up();

}  // namespace fault
