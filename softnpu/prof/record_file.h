#pragma once
// Records in files, for the program msprof. The layout is between the two; softnpu/toolkit/msprof/records.py reads it.

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <unordered_map>

#include "base/status.h"
#include "prof/collector.h"

namespace softnpu::prof {

// Two files: one of records of one size, and one of the texts that they name by number. What was written of them when
// the process was killed can be read.
class RecordFile final : public Sink {
 public:
  // An error names the file.
  static Status open(const std::filesystem::path& folder, std::unique_ptr<RecordFile>* out);

  void take(const softnpuTraceRecord& record) override;
  void flush() override;

  // The first error while writing.
  Status status() const;
  uint64_t count() const { return count_; }

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  using Stream = std::unique_ptr<std::FILE, Close>;

  RecordFile(Stream records, Stream texts, std::string name)
      : records_(std::move(records)), texts_(std::move(texts)), name_(std::move(name)) {}
  uint64_t number_of(const char* text);
  void write(std::FILE* file, const void* data, size_t bytes);

  Stream records_;
  Stream texts_;
  const std::string name_;
  std::unordered_map<const char*, uint64_t> by_address_;
  std::unordered_map<std::string, uint64_t> by_text_;
  uint64_t count_ = 0;
  int error_ = 0;
};

}  // namespace softnpu::prof
