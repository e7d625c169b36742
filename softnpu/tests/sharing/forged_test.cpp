// A process that answers an importer with files that would end in SIGBUS.

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <thread>

#include "base/descriptor_socket.h"
#include "runtime/ipc/export_messages.h"
#include "runtime/ipc/export_ticket.h"
#include "sharing/sharing_fixture.h"

namespace sharing {
namespace {

using softnpu::DescriptorSocket;
using softnpu::ExportReply;
using softnpu::ExportTicket;
using softnpu::File;

File make_file(off_t size, int seals) {
  File file(memfd_create("forged", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  EXPECT_EQ(ftruncate(file.fd(), size), 0);
  EXPECT_EQ(fcntl(file.fd(), F_ADD_SEALS, seals), 0);
  return file;
}

// Answers one request at the ticket's socket with `file`, of which it says that it has `size` bytes.
class Forger {
 public:
  Forger(ExportTicket::Kind kind, File file, uint64_t offset, uint64_t size) : file_(std::move(file)) {
    ticket_.kind = kind;
    ticket_.pid = static_cast<uint32_t>(getpid());
    reply_.code = ExportReply::Code::kGranted;
    reply_.offset = offset;
    reply_.size = size;
    while (!DescriptorSocket::listen(ticket_.socket_name(), &listener_).is_ok()) ++ticket_.tag;
    thread_ = std::thread([this] { answer(); });
  }
  ~Forger() { thread_.join(); }

  const ExportTicket& ticket() const { return ticket_; }

 private:
  void answer() {
    pollfd asked{listener_.fd(), POLLIN, 0};
    poll(&asked, 1, -1);
    DescriptorSocket importer;
    EXPECT_TRUE(listener_.accept(&importer).is_ok());
    asked = {importer.fd(), POLLIN, 0};
    poll(&asked, 1, -1);
    softnpu::ExportRequest request;
    size_t size = 0;
    std::vector<File> files;
    EXPECT_TRUE(importer.receive(softnpu::bytes_of(request), &size, &files).is_ok());
    EXPECT_TRUE(importer.send(softnpu::bytes_of(reply_), std::array{file_.fd()}).is_ok());
    poll(&asked, 1, -1);
  }

  File file_;
  ExportTicket ticket_;
  ExportReply reply_;
  DescriptorSocket listener_;
  std::thread thread_;
};

class ForgedTest : public SharingTest {
 protected:
  static aclError open_event(const ExportTicket& ticket) {
    aclrtIpcEventHandle handle{};
    ticket.text().copy(handle.reserved, sizeof handle.reserved - 1);
    aclrtEvent event = nullptr;
    return aclrtIpcOpenEventHandle(handle, &event);
  }
  static void expect_refused(aclError code) {
    EXPECT_NE(code, ACL_SUCCESS);
    EXPECT_NE(recent_error().find("its file may shrink, or is smaller"), std::string::npos) << recent_error();
  }
  static aclError import_memory(const ExportTicket& ticket) {
    void* memory = nullptr;
    return aclrtIpcMemImportByKey(&memory, ticket.text().c_str(), 0);
  }
};

TEST_F(ForgedTest, AnEmptyFileIsNoEvent) {
  const Forger forger(ExportTicket::Kind::kEvent, make_file(0, F_SEAL_SHRINK), 0, 4096);
  expect_refused(open_event(forger.ticket()));
}

TEST_F(ForgedTest, AFileThatMayShrinkIsRefused) {
  const Forger forger(ExportTicket::Kind::kEvent, make_file(4096, F_SEAL_GROW), 0, 4096);
  expect_refused(open_event(forger.ticket()));
  const Forger memory(ExportTicket::Kind::kMemory, make_file(kPage, 0), 0, kPage);
  expect_refused(import_memory(memory.ticket()));
}

TEST_F(ForgedTest, ARangeBeyondItsFileIsRefused) {
  for (const auto& [offset, size] : {std::pair<uint64_t, uint64_t>{0, 2 * kPage},
                                     {kPage, 4096},
                                     {4096, kPage},
                                     {~uint64_t{0} - 4095, kPage},
                                     {4096, ~uint64_t{0}},
                                     {0, 0}}) {
    const Forger forger(ExportTicket::Kind::kMemory, make_file(kPage, F_SEAL_SHRINK), offset, size);
    SCOPED_TRACE(testing::Message() << offset << " " << size);
    expect_refused(import_memory(forger.ticket()));
  }
}

TEST_F(ForgedTest, AGoodFileIsMapped) {
  const Forger forger(ExportTicket::Kind::kMemory, make_file(kPage, F_SEAL_SHRINK), 0, kPage);
  EXPECT_EQ(import_memory(forger.ticket()), ACL_SUCCESS) << recent_error();
  EXPECT_EQ(aclrtIpcMemClose(forger.ticket().text().c_str()), ACL_SUCCESS);
}

}  // namespace
}  // namespace sharing
