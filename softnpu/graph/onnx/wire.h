#pragma once
// Reads the wire format of protocol buffers: the fields of one message, in their order.
// Facts: protobuf.dev, "Encoding".

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace softnpu::graph::onnx {

class Reader {
 public:
  explicit Reader(std::string_view message) : rest_(message) {}

  // Reads the next field's number and value. False at the end, and once the message is damaged.
  bool next();
  // Whether everything so far was well formed.
  bool is_ok() const { return is_ok_; }

  uint32_t field() const { return field_; }
  // The value as a number: of a varint or of a fixed width.
  uint64_t number() const { return number_; }
  int64_t integer() const { return static_cast<int64_t>(number_); }
  float real() const;
  // The value as bytes: text, a message, or packed numbers. Empty if it is a number.
  std::string_view bytes() const { return bytes_; }
  std::string words() const { return std::string(bytes_); }

  // Adds the numbers of a repeated field, packed or not.
  void append(std::vector<int64_t>* out);
  void append(std::vector<uint64_t>* out);
  void append(std::vector<float>* out);
  void append(std::vector<double>* out);

 private:
  enum class Wire : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

  bool fail();
  bool read_varint(uint64_t* out);
  bool read_fixed(size_t bytes, uint64_t* out);

  std::string_view rest_;
  uint32_t field_ = 0;
  Wire wire_ = Wire::kVarint;
  uint64_t number_ = 0;
  std::string_view bytes_;
  bool is_ok_ = true;
};

}  // namespace softnpu::graph::onnx
