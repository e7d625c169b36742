#pragma once
// The calling thread's team of OpenMP threads.

namespace softnpu {

// Ends it; the thread's next parallel region makes a new one. While the teams of a process together have more threads
// than there are cores, libgomp puts waiting threads to sleep early in all of them, the program's own among them. Does
// nothing within a parallel region.
void release_team();

}  // namespace softnpu
