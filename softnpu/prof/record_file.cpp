#include "prof/record_file.h"

#include <cerrno>
#include <cstring>

#include "base/text.h"

namespace softnpu::prof {
namespace {

constexpr char kMagic[8] = {'S', 'N', 'P', 'U', 'R', 'E', 'C', '1'};
static_assert(sizeof(softnpuTraceRecord) == 80);

Status not_written(const std::string& name, int error) {
  return {ACL_ERROR_WRITE_FILE, text(name, " cannot be written: ", std::strerror(error))};
}

}  // namespace

Status RecordFile::open(const std::filesystem::path& folder, std::unique_ptr<RecordFile>* out) {
  const std::string name = folder / "softnpu.records";
  Stream records(std::fopen(name.c_str(), "wb"));
  if (records == nullptr) return not_written(name, errno);
  const std::string texts_name = folder / "softnpu.texts";
  Stream texts(std::fopen(texts_name.c_str(), "wb"));
  if (texts == nullptr) return not_written(texts_name, errno);
  out->reset(new RecordFile(std::move(records), std::move(texts), name));
  (*out)->write((*out)->records_.get(), kMagic, sizeof kMagic);
  (*out)->flush();
  return (*out)->status();
}

void RecordFile::write(std::FILE* file, const void* data, size_t bytes) {
  if (error_ != 0 || bytes == 0) return;
  if (std::fwrite(data, bytes, 1, file) != 1) error_ = errno;
}

uint64_t RecordFile::number_of(const char* given) {
  if (given == nullptr) return 0;
  if (const auto known = by_address_.find(given); known != by_address_.end()) return known->second;
  const auto [entry, is_new] = by_text_.try_emplace(given, by_text_.size() + 1);
  by_address_[given] = entry->second;
  if (is_new) {
    const auto bytes = static_cast<uint32_t>(entry->first.size());
    write(texts_.get(), &bytes, sizeof bytes);
    write(texts_.get(), entry->first.data(), bytes);
  }
  return entry->second;
}

void RecordFile::take(const softnpuTraceRecord& record) {
  softnpuTraceRecord stored = record;
  const uint64_t name = number_of(record.name);
  const uint64_t detail = number_of(record.detail);
  std::memcpy(&stored.name, &name, sizeof name);
  std::memcpy(&stored.detail, &detail, sizeof detail);
  write(records_.get(), &stored, sizeof stored);
  ++count_;
}

void RecordFile::flush() {
  // Texts first: a record names only those that are in the file.
  if (error_ == 0 && (std::fflush(texts_.get()) != 0 || std::fflush(records_.get()) != 0)) error_ = errno;
}

Status RecordFile::status() const { return error_ == 0 ? Status::ok() : not_written(name_, error_); }

}  // namespace softnpu::prof
