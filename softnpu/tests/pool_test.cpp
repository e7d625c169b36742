#include "base/pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "base/no_destroy.h"
#include "sanitizers.h"

namespace {

struct Counted {
  explicit Counted(int number) : value(number) {
    if (number < 0) throw std::invalid_argument("negative");
    ++alive;
  }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  ~Counted() { --alive; }

  int value;
  static std::atomic<int> alive;
};
std::atomic<int> Counted::alive{0};

softnpu::Pool<Counted>& pool() {
  static softnpu::NoDestroy<softnpu::Pool<Counted>> instance;
  return instance.get();
}

TEST(PoolTest, MakesAndDestroysMoreThanOneChunk) {
  std::vector<Counted*> result;
  for (int i = 0; i < 1000; ++i) result.push_back(pool().make(i));
  EXPECT_EQ(Counted::alive, 1000);
  EXPECT_EQ(std::set<Counted*>(result.begin(), result.end()).size(), result.size());
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(result[static_cast<size_t>(i)]->value, i);
    EXPECT_TRUE(pool().is_live(result[static_cast<size_t>(i)]));
    EXPECT_FALSE(pool().is_live(reinterpret_cast<char*>(result[static_cast<size_t>(i)]) + 1));
  }
  for (Counted* object : result) EXPECT_TRUE(pool().destroy(object));
  EXPECT_EQ(Counted::alive, 0);
  for (Counted* object : result) {
    EXPECT_FALSE(pool().is_live(object));
    EXPECT_FALSE(pool().destroy(object));
  }
  EXPECT_EQ(Counted::alive, 0);
}

TEST(PoolTest, ReusesItsMemory) {
  std::set<Counted*> addresses;
  for (int i = 0; i < 10'000; ++i) {
    Counted* object = pool().make(i);
    addresses.insert(object);
    ASSERT_TRUE(pool().destroy(object));
  }
  EXPECT_LE(addresses.size(), 64);
}

TEST(PoolTest, ThrowingConstructorLeaksNothing) {
  std::set<Counted*> addresses;
  for (int i = 0; i < 1000; ++i) {
    EXPECT_THROW(pool().make(-1), std::invalid_argument);
    Counted* object = pool().make(i);
    addresses.insert(object);
    ASSERT_TRUE(pool().destroy(object));
  }
  EXPECT_LE(addresses.size(), 64);
  EXPECT_EQ(Counted::alive, 0);
}

TEST(PoolTest, NamesAreNeverReused) {
  Counted* first = pool().make(1);
  const uint64_t name = pool().name(first);
  EXPECT_NE(name, 0);
  ASSERT_EQ(pool().claim(name), first);
  EXPECT_EQ(pool().claim(name), nullptr);
  EXPECT_FALSE(pool().is_live(first));
  EXPECT_EQ(first->value, 1);
  pool().recycle(first);
  EXPECT_EQ(Counted::alive, 0);
  Counted* second = pool().make(2);
  ASSERT_EQ(second, first);
  EXPECT_NE(pool().name(second), name);
  for (const uint64_t foreign : {name, uint64_t{0}, uint64_t{1}, UINT64_MAX, pool().name(second) + 1}) {
    EXPECT_EQ(pool().claim(foreign), nullptr) << foreign;
    EXPECT_EQ(pool().find_shared(foreign), nullptr) << foreign;
  }
  EXPECT_TRUE(pool().destroy(second));
}

TEST(PoolTest, ASharedObjectIsFoundUntilItIsClaimedAsOne) {
  Counted* object = pool().make(1);
  const uint64_t name = pool().name(object);
  EXPECT_EQ(pool().find_shared(name), nullptr);
  ASSERT_EQ(pool().claim(name), object);
  pool().share(object);
  EXPECT_EQ(pool().claim(name), nullptr);
  EXPECT_EQ(pool().find_shared(name), object);
  EXPECT_EQ(pool().find_shared(name), object);
  EXPECT_EQ(pool().claim_shared(name), object);
  EXPECT_EQ(pool().find_shared(name), nullptr);
  pool().recycle(object);
  Counted* next = pool().make(2);
  EXPECT_EQ(pool().claim(pool().name(next)), next);  // not shared, unlike the object before it
  pool().recycle(next);
}

// Chains cached by ended threads are returned: memory does not grow with the number of threads.
TEST(PoolTest, ThreadsGiveBackWhatTheyKept) {
  std::set<Counted*> addresses;
  for (int round = 0; round < by_build(500, 100); ++round) {
    Counted* object = nullptr;
    std::thread([&] { object = pool().make(round); }).join();
    addresses.insert(object);
    std::thread([&] { EXPECT_TRUE(pool().destroy(object)); }).join();
  }
  EXPECT_LE(addresses.size(), 64);
}

TEST(PoolTest, OneOfTwoThreadsDestroys) {
  for (int round = 0; round < by_build(2000, 200); ++round) {
    Counted* object = pool().make(round);
    std::atomic<int> destroyed{0};
    std::atomic<int> ready{0};
    const auto destroy = [&] {
      ++ready;
      while (ready < 2) std::this_thread::yield();
      if (pool().destroy(object)) ++destroyed;
    };
    std::thread other(destroy);
    destroy();
    other.join();
    ASSERT_EQ(destroyed, 1);
  }
  EXPECT_EQ(Counted::alive, 0);
}

// Static and thread-local destructors destroy objects that live until the end of the process.
TEST(PoolTest, ServesAfterTheThreadsOwnDestructors) {
  struct Late {
    Counted* object = nullptr;
    ~Late() {
      if (object == nullptr) return;
      EXPECT_TRUE(pool().destroy(object));
      EXPECT_TRUE(pool().destroy(pool().make(1)));
    }
  };
  std::thread([] {
    static thread_local Late late;  // constructed before the pool's thread state, so destroyed after it
    late.object = nullptr;
    late.object = pool().make(7);
  }).join();
  EXPECT_EQ(Counted::alive, 0);
}

}  // namespace
