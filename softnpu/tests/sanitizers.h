#pragma once
// The build of the tests: instrumented code is 5 to 20 times slower, so that counts depend on the build.

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

constexpr int by_build(int plain, int sanitized) { return kSanitized ? sanitized : plain; }
