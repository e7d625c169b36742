#include "graph/onnx/wire.h"

#include <bit>
#include <cstring>

namespace softnpu::graph::onnx {

bool Reader::fail() {
  is_ok_ = false;
  rest_ = {};
  return false;
}

bool Reader::read_varint(uint64_t* out) {
  uint64_t value = 0;
  for (size_t i = 0; i < 10 && i < rest_.size(); ++i) {
    const auto byte = static_cast<uint8_t>(rest_[i]);
    value |= static_cast<uint64_t>(byte & 0x7f) << (7 * i);
    if ((byte & 0x80) != 0) continue;
    rest_.remove_prefix(i + 1);
    *out = value;
    return true;
  }
  return fail();
}

bool Reader::read_fixed(size_t bytes, uint64_t* out) {
  static_assert(std::endian::native == std::endian::little);
  if (rest_.size() < bytes) return fail();
  *out = 0;
  std::memcpy(out, rest_.data(), bytes);
  rest_.remove_prefix(bytes);
  return true;
}

bool Reader::next() {
  if (rest_.empty()) return false;
  uint64_t key = 0;
  if (!read_varint(&key)) return false;
  field_ = static_cast<uint32_t>(key >> 3);
  wire_ = static_cast<Wire>(key & 7);
  number_ = 0;
  bytes_ = {};
  if (field_ == 0) return fail();
  switch (wire_) {
    case Wire::kVarint: return read_varint(&number_);
    case Wire::kFixed64: return read_fixed(8, &number_);
    case Wire::kFixed32: return read_fixed(4, &number_);
    case Wire::kBytes: {
      uint64_t size = 0;
      if (!read_varint(&size) || size > rest_.size()) return fail();
      bytes_ = rest_.substr(0, size);
      rest_.remove_prefix(size);
      return true;
    }
    default: return fail();
  }
}

float Reader::real() const { return std::bit_cast<float>(static_cast<uint32_t>(number_)); }

void Reader::append(std::vector<uint64_t>* out) {
  if (wire_ != Wire::kBytes) {
    out->push_back(number_);
    return;
  }
  Reader packed(bytes_);
  uint64_t value = 0;
  while (!packed.rest_.empty() && packed.read_varint(&value)) out->push_back(value);
  if (!packed.is_ok_) fail();
}

void Reader::append(std::vector<int64_t>* out) {
  std::vector<uint64_t> values;
  append(&values);
  for (const uint64_t value : values) out->push_back(static_cast<int64_t>(value));
}

void Reader::append(std::vector<float>* out) {
  if (wire_ != Wire::kBytes) {
    out->push_back(real());
    return;
  }
  const size_t count = bytes_.size() / sizeof(float);
  const size_t before = out->size();
  out->resize(before + count);
  if (count > 0) std::memcpy(out->data() + before, bytes_.data(), count * sizeof(float));
}

void Reader::append(std::vector<double>* out) {
  if (wire_ != Wire::kBytes) {
    out->push_back(std::bit_cast<double>(number_));
    return;
  }
  const size_t count = bytes_.size() / sizeof(double);
  const size_t before = out->size();
  out->resize(before + count);
  if (count > 0) std::memcpy(out->data() + before, bytes_.data(), count * sizeof(double));
}

}  // namespace softnpu::graph::onnx
