#include "ascendc/sanitizer/local_buffers.h"

#include <cstring>

namespace softnpu::kernel::check {
namespace {

constexpr int kMemories = 7;
constexpr const char* kMemoryNames[kMemories] = {"UB", "L1", "L0A", "L0B", "L0C", "bias table", "fixpipe buffer"};

std::optional<int> find_memory(const Block& block, uint64_t address) {
  for (int i = 0; i < kMemories; ++i) {
    if (address - reinterpret_cast<uint64_t>(block.local[i]) < block.local_bytes[i]) return i;
  }
  return std::nullopt;
}

std::string hexadecimal(uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

std::string location_in(const Block& block, uint64_t address) {
  const auto memory = find_memory(block, address);
  if (!memory) return "GM " + hexadecimal(address);
  const uint64_t offset = address - reinterpret_cast<uint64_t>(block.local[*memory]);
  return std::string(kMemoryNames[*memory]) + " + " + hexadecimal(offset);
}

}  // namespace

std::string line_of(const std::source_location& where) {
  const char* slash = std::strrchr(where.file_name(), '/');
  return std::string(slash == nullptr ? where.file_name() : slash + 1) + ":" + std::to_string(where.line());
}

std::string LocalBuffer::text(const Block& block) const {
  std::string result = state == State::kGiven ? "the buffer initialised at " + line_of(initialised)
                                              : "buffer " + std::to_string(position) + " of the queue initialised at " +
                                                    line_of(initialised);
  result += ", " + std::to_string(end - begin) + " bytes at " + location_in(block, begin);
  if (state != State::kGiven) result += ", tensor allocated at " + line_of(lent);
  if (state == State::kFreed) result += ", freed at " + line_of(freed);
  return result;
}

std::optional<int> LocalBuffers::memory_of(uint64_t address) const { return find_memory(*block_, address); }

std::string LocalBuffers::location(uint64_t address) const { return location_in(*block_, address); }

const LocalBuffer* LocalBuffers::find(uint64_t address) const {
  if (last_ != nullptr && address >= last_->begin && address < last_->end) return last_;
  auto found = buffers_.upper_bound(address);
  if (found == buffers_.begin()) return nullptr;
  --found;
  if (address >= found->second.end) return nullptr;
  last_ = &found->second;
  return last_;
}

std::string LocalBuffers::handle(LocalEvent event, const Memory& memory, const void* owner,
                                 const std::source_location& where) {
  const auto address = reinterpret_cast<uint64_t>(memory.address);
  if (event == LocalEvent::kReset) {
    buffers_.clear();
    last_ = nullptr;
    return {};
  }
  if (event == LocalEvent::kInitBuffer) {
    int position = 0;
    for (const auto& [begin, other] : buffers_) position += other.owner == owner;
    LocalBuffer buffer{};
    buffer.begin = address;
    buffer.end = address + memory.bytes;
    buffer.owner = owner;
    buffer.position = position;
    buffer.initialised = where;
    last_ = nullptr;
    buffers_.insert_or_assign(address, buffer);
    return {};
  }
  const auto found = buffers_.find(address);
  if (found == buffers_.end()) return "the tensor is of no buffer that InitBuffer has made";
  LocalBuffer& buffer = found->second;
  if (event == LocalEvent::kAlloc) {
    buffer.state = LocalBuffer::State::kLent;
    buffer.lent = where;
  } else if (buffer.state == LocalBuffer::State::kFreed) {
    return event == LocalEvent::kFree ? "the tensor is freed twice" : "the tensor was freed before";
  } else if (event == LocalEvent::kFree) {
    buffer.state = LocalBuffer::State::kFreed;
    buffer.freed = where;
    if (buffer.owner != owner) return "the tensor is freed at another queue than its own";
  }
  return {};
}

}  // namespace softnpu::kernel::check
