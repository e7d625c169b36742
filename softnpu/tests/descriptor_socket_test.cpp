#include "base/descriptor_socket.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

using softnpu::DescriptorSocket;
using softnpu::File;
using std::chrono::milliseconds;

std::string own_name(const char* word) { return "softnpu-test-" + std::string(word) + std::to_string(getpid()); }

std::span<const std::byte> bytes(const std::string& text) { return std::as_bytes(std::span(text)); }

// A connection: what connect() gave and what accept() gave.
struct Pair {
  explicit Pair(const char* word) {
    EXPECT_TRUE(DescriptorSocket::listen(own_name(word), &listener).is_ok());
    EXPECT_TRUE(DescriptorSocket::connect(own_name(word), milliseconds(5000), &here).is_ok());
    EXPECT_TRUE(listener.accept(&there).is_ok());
  }
  DescriptorSocket listener;
  DescriptorSocket here;
  DescriptorSocket there;
};

TEST(DescriptorSocketTest, MessagesAndDescriptorsArriveWhole) {
  const Pair pair("whole");
  EXPECT_EQ(pair.here.peer(), getpid());
  EXPECT_EQ(pair.there.peer(), getpid());
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  const File reader(ends[0]);
  const File writer(ends[1]);
  ASSERT_TRUE(pair.here.send(bytes("one"), std::array{writer.fd()}).is_ok());
  ASSERT_TRUE(pair.here.send(bytes("three")).is_ok());
  std::array<std::byte, 16> room{};
  size_t size = 0;
  std::vector<File> files;
  ASSERT_TRUE(pair.there.receive(room, &size, &files).is_ok());
  ASSERT_EQ(size, 3u);
  ASSERT_EQ(files.size(), 1u);
  ASSERT_EQ(write(files[0].fd(), "x", 1), 1);
  char got = 0;
  ASSERT_EQ(read(reader.fd(), &got, 1), 1);
  EXPECT_EQ(got, 'x');
  ASSERT_TRUE(pair.there.receive(room, &size, &files).is_ok());
  EXPECT_EQ(size, 5u);
  EXPECT_TRUE(files.empty());
}

TEST(DescriptorSocketTest, ALongMessageAndAClosedEnd) {
  Pair pair("long");
  std::array<std::byte, 2> room{};
  size_t size = 0;
  std::vector<File> files;
  ASSERT_TRUE(pair.here.send(bytes("longer")).is_ok());
  EXPECT_FALSE(pair.there.receive(room, &size, &files).is_ok());
  pair.here = {};
  ASSERT_TRUE(pair.there.receive(room, &size, &files).is_ok());
  EXPECT_EQ(size, 0u);
}

TEST(DescriptorSocketTest, AnEndThatClosesWithMessagesUnread) {
  Pair pair("unread");
  std::array<std::byte, 16> room{};
  size_t size = 0;
  std::vector<File> files;
  ASSERT_TRUE(pair.there.send(bytes("unread")).is_ok());
  ASSERT_TRUE(pair.here.send(bytes("last")).is_ok());
  pair.here = {};
  ASSERT_TRUE(pair.there.receive(room, &size, &files).is_ok());
  EXPECT_EQ(size, 4u);
  ASSERT_TRUE(pair.there.receive(room, &size, &files).is_ok());
  EXPECT_EQ(size, 0u);
}

TEST(DescriptorSocketTest, NamesAreTakenOnce) {
  DescriptorSocket first;
  DescriptorSocket second;
  ASSERT_TRUE(DescriptorSocket::listen(own_name("once"), &first).is_ok());
  EXPECT_FALSE(DescriptorSocket::listen(own_name("once"), &second).is_ok());
  EXPECT_FALSE(DescriptorSocket::listen(std::string(108, 'x'), &second).is_ok());
  EXPECT_FALSE(DescriptorSocket::connect(own_name("nobody"), milliseconds(100), &second).is_ok());
  DescriptorSocket none;
  ASSERT_TRUE(first.accept(&none).is_ok());
  EXPECT_EQ(none.fd(), -1);
}

TEST(DescriptorSocketTest, AListenerThatDoesNotAnswerIsATimeout) {
  const Pair pair("silent");
  DescriptorSocket waiting;
  ASSERT_TRUE(DescriptorSocket::connect(own_name("silent"), milliseconds(50), &waiting).is_ok());
  std::array<std::byte, 2> room{};
  size_t size = 0;
  std::vector<File> files;
  EXPECT_FALSE(waiting.receive(room, &size, &files).is_ok());
}

}  // namespace
