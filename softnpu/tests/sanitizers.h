#pragma once
// How the tests are built: instrumented code is 5 to 20 times slower, so that counts are chosen by the build.

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

constexpr int by_build(int plain, int sanitized) { return kSanitized ? sanitized : plain; }
