#pragma once
// Forms communicators.

#include <span>
#include <string>
#include <vector>

#include "ccl/communicator.h"

namespace softnpu::ccl {

// What HcclCommConfig says that matters here.
struct Options {
  std::string name;
};

// Fails for a struct that HcclCommConfigInit did not fill. Null is the default.
Status read_options(const HcclCommConfig* config, Options* out);

// A rank on the calling thread's device. Waits for the others.
Status connect(const RootInfo& info, uint32_t ranks, uint32_t rank, const Options& options, bool may_be_early,
               std::shared_ptr<Communicator>* out);

// The same, but the ranks meet in the background; each meets them by itself. `ids`: the ranks' numbers in errors.
Status connect_in_background(const RootInfo& info, std::span<const uint32_t> ids, uint32_t rank, const Options& options,
                             std::shared_ptr<Communicator>* out);

// One rank for each device, all in this process.
Status connect_all(std::span<const int32_t> devices, std::vector<std::shared_ptr<Communicator>>* out);

}  // namespace softnpu::ccl
