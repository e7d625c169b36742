// Queues, buffers and the pipe: what they give, and what they refuse.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "ascendc/kernel_run.h"
#include "kernel_operator.h"

namespace {

using namespace AscendC;

struct Out {
  std::vector<int64_t>* values;
};

class KernelQueue : public KernelTest {
 protected:
  // What `body` pushes to its argument.
  template <typename Body>
  static std::vector<int64_t> values_of(Body) {
    std::vector<int64_t> values;
    EXPECT_EQ(run("queue", 1, Out{&values}, [](const Out& out) { Body()(out.values); }), ACL_SUCCESS) << recent_error();
    return values;
  }
  struct None {};
  template <typename Body>
  static std::string failure_of(Body) {
    EXPECT_EQ(run("queue", 1, None{}, [](const None&) { Body()(); }), ACL_ERROR_RT_AICORE_EXCEPTION);
    return recent_error();
  }
};

template <typename T>
uint64_t address(const LocalTensor<T>& tensor) {
  return tensor.GetPhyAddr();
}

TEST_F(KernelQueue, TheBufferThatWasGivenBackIsLentAgain) {
  const auto values = values_of([](std::vector<int64_t>* out) {
    TPipe pipe;
    TQue<QuePosition::VECIN, 2> queue;
    pipe.InitBuffer(queue, 2, 64);
    for (int i = 0; i < 2; ++i) {
      auto tensor = queue.AllocTensor<float>();
      out->push_back(static_cast<int64_t>(address(tensor)));
      queue.EnQue(tensor);
      queue.FreeTensor(queue.DeQue<float>());
    }
  });
  EXPECT_EQ(values[0], values[1]);
}

TEST_F(KernelQueue, TensorsComeBackInTheOrderOfEnQue) {
  const auto values = values_of([](std::vector<int64_t>* out) {
    TPipe pipe;
    TQue<QuePosition::VECIN, 3> queue;
    pipe.InitBuffer(queue, 3, 100);
    auto a = queue.AllocTensor<float>();
    auto b = queue.AllocTensor<float>();
    auto c = queue.AllocTensor<float>();
    out->push_back(a.GetSize());
    out->push_back(static_cast<int64_t>(address(b) - address(a)));
    queue.EnQue(b);
    queue.EnQue(a);
    queue.EnQue(c);
    out->push_back(queue.VacantInQue());
    auto first = queue.DeQue<float>();
    out->push_back(address(first) == address(b));
    out->push_back(queue.VacantInQue());
    queue.FreeTensor(first);
    out->push_back(address(queue.AllocTensor<float>()) == address(b));
    out->push_back(address(queue.DeQue<float>()) == address(a));
    out->push_back(address(queue.DeQue<float>()) == address(c));
    out->push_back(queue.HasTensorInQue());
  });
  EXPECT_EQ(values, (std::vector<int64_t>{32, 128, 0, 1, 1, 1, 1, 1, 0}));
}

TEST_F(KernelQueue, ABoundQueueLendsInAndOut) {
  const auto values = values_of([](std::vector<int64_t>* out) {
    TPipe pipe;
    TQueBind<QuePosition::VECIN, QuePosition::VECOUT, 1> queue;
    pipe.InitBuffer(queue, 2, 64);
    for (int i = 0; i < 5; ++i) {
      auto in = queue.AllocTensor<int32_t>();
      in.SetValue(0, i);
      queue.EnQue(in);
      auto result = queue.DeQue<int32_t>();
      out->push_back(result.GetValue(0));
      queue.FreeTensor(result);
    }
  });
  EXPECT_EQ(values, (std::vector<int64_t>{0, 1, 2, 3, 4}));
}

TEST_F(KernelQueue, MoreBuffersThanEventIdsAreFreedAndTakenAgain) {
  const auto values = values_of([](std::vector<int64_t>* out) {
    TPipe pipe;
    TQue<QuePosition::VECIN, 2> queues[7];
    for (auto& queue : queues) pipe.InitBuffer(queue, 2, 32);
    for (int round = 0; round < 3; ++round) {
      for (auto& queue : queues) {
        queue.EnQue(queue.AllocTensor<int32_t>());
        queue.EnQue(queue.AllocTensor<int32_t>());
      }
      for (auto& queue : queues) {
        for (int i = 0; i < 2; ++i) queue.FreeTensor(queue.DeQue<int32_t>());
      }
    }
    out->push_back(pipe.AllocEventID<HardEvent::MTE2_V>());
    const auto back = pipe.FetchEventID(HardEvent::V_MTE2);
    out->push_back(back >= 0 && back < 8);
  });
  EXPECT_EQ(values, (std::vector<int64_t>{0, 1}));
}

TEST_F(KernelQueue, EventIdsAreGivenOutOnce) {
  const auto values = values_of([](std::vector<int64_t>* out) {
    TPipe pipe;
    const auto first = pipe.AllocEventID<HardEvent::V_MTE3>();
    out->push_back(first);
    out->push_back(GetTPipePtr()->FetchEventID(HardEvent::V_MTE3));
    out->push_back(pipe.AllocEventID<HardEvent::V_MTE3>());
    out->push_back(pipe.AllocEventID<HardEvent::MTE2_V>());
    pipe.ReleaseEventID<HardEvent::V_MTE3>(first);
    out->push_back(pipe.FetchEventID(HardEvent::V_MTE3));
  });
  EXPECT_EQ(values, (std::vector<int64_t>{0, 1, 1, 0, 0}));
}

TEST_F(KernelQueue, AResetGivesAllMemoryBack) {
  const auto values = values_of([](std::vector<int64_t>* out) {
    TPipe pipe;
    TBuf<> buffer;
    for (int i = 0; i < 3; ++i) {
      pipe.InitBuffer(buffer, 190 << 10);
      out->push_back(buffer.Get<int32_t>().GetSize());
      pipe.Reset();
    }
    pipe.Destroy();
    TPipe second;
    second.InitBuffer(buffer, 192 << 10);
    out->push_back(buffer.GetWithOffset<half>(16, 64).GetSize());
    out->push_back(static_cast<int64_t>(address(buffer.GetWithOffset<half>(16, 64)) - address(buffer.Get<half>())));
    out->push_back(GetTPipePtr() == &second);
  });
  EXPECT_EQ(values, (std::vector<int64_t>{48640, 48640, 48640, 16, 64, 1}));
}

TEST_F(KernelQueue, MemoriesOfOtherPositionsAreApart) {
  const auto values = values_of([](std::vector<int64_t>* out) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> unified;
    TBuf<TPosition::A1> l1;
    TBuf<TPosition::A2> l0a;
    pipe.InitBuffer(unified, 192 << 10);
    pipe.InitBuffer(l1, 512 << 10);
    pipe.InitBuffer(l0a, 64 << 10);
    const auto u = unified.Get<int32_t>();
    const auto l = l1.Get<int32_t>();
    u.SetValue(5, 17);
    DataCopy(l, u, 64);
    DataCopy(u[64], l, 64);
    out->push_back(u.GetValue(69));
  });
  EXPECT_EQ(values, (std::vector<int64_t>{17}));
}

TEST_F(KernelQueue, ABufferMayBeEmpty) {
  const auto values = values_of([](std::vector<int64_t>* out) {
    TPipe pipe;
    TBuf<> none, buffer;
    pipe.InitBuffer(none, 0);
    pipe.InitBuffer(buffer, 64);
    const auto tensor = buffer.Get<int32_t>();
    tensor.SetValue(15, 9);
    out->push_back(tensor.GetValue(15));
    out->push_back(tensor.GetPhyAddr() % 32);
  });
  EXPECT_EQ(values, (std::vector<int64_t>{9, 0}));
}

TEST_F(KernelQueue, FreesTensorsOfAnotherQueue) {
  const auto values = values_of([](std::vector<int64_t>* out) {
    TPipe pipe;
    TQue<QuePosition::VECIN, 1> first, second;
    pipe.InitBuffer(first, 1, 64);
    pipe.InitBuffer(second, 1, 64);
    for (int i = 0; i < 3; ++i) {
      auto a = first.AllocTensor<float>();
      auto b = second.AllocTensor<float>();
      out->push_back(a.GetPhyAddr() != b.GetPhyAddr());
      second.FreeTensor(a);
      first.FreeTensor(b);
    }
  });
  EXPECT_EQ(values, (std::vector<int64_t>{1, 1, 1}));
}

TEST_F(KernelQueue, WhatItRefuses) {
  using Que = TQue<QuePosition::VECIN, 1>;
  const struct {
    std::string failure;
    const char* sentence;
  } cases[] = {
      {failure_of([] { Que().AllocTensor<float>(); }), "InitBuffer is missing"},
      {failure_of([] { TBuf<>().Get<float>(); }), "InitBuffer is missing"},
      {failure_of([] {
         TPipe pipe;
         Que queue;
         pipe.InitBuffer(queue, 1, 64);
         queue.AllocTensor<float>();
         queue.AllocTensor<float>();
       }),
       "all buffers of the queue are in use: FreeTensor is missing"},
      {failure_of([] {
         TPipe pipe;
         Que queue;
         pipe.InitBuffer(queue, 1, 64);
         queue.DeQue<float>();
       }),
       "nothing is in the queue: EnQue is missing"},
      {failure_of([] {
         TPipe pipe;
         Que queue;
         pipe.InitBuffer(queue, 2, 64);
         queue.EnQue(queue.AllocTensor<float>());
         queue.EnQue(queue.AllocTensor<float>());
       }),
       "the queue is full: DeQue is missing"},
      {failure_of([] {
         TPipe pipe;
         Que queue;
         pipe.InitBuffer(queue, 1, 64);
         auto tensor = queue.AllocTensor<float>();
         queue.FreeTensor(tensor);
         queue.FreeTensor(tensor);
       }),
       "FreeTensor: the tensor is not one that a queue has given out"},
      {failure_of([] {
         TPipe pipe;
         Que queue;
         TBuf<> buffer;
         pipe.InitBuffer(queue, 1, 64);
         pipe.InitBuffer(buffer, 64);
         queue.EnQue(buffer.Get<float>());
       }),
       "EnQue: the tensor is not one that the queue has given out"},
      {failure_of([] {
         TPipe pipe;
         TBuf<> buffer;
         pipe.InitBuffer(buffer, 100 << 10);
         pipe.InitBuffer(buffer, 100 << 10);
       }),
       "102400 bytes more than the 102400 in use exceed the memory's 196608"},
      {failure_of([] {
         TPipe pipe;
         TBuf<> buffer;
         pipe.InitBuffer(buffer, 64);
         buffer.Get<float>(17);
       }),
       "the tensor ends behind the buffer"},
      {failure_of([] {
         TPipe pipe;
         for (int i = 0; i < 9; ++i) pipe.AllocEventID<HardEvent::S_V>();
       }),
       "all 8 ids of an event are in use"},
      {failure_of([] {
         TPipe pipe;
         TQue<QuePosition::VECOUT, 2> queue;
         pipe.InitBuffer(queue, 65, 64);
       }),
       "at most 64 buffers"},
  };
  for (const auto& [failure, sentence] : cases) {
    EXPECT_NE(failure.find(sentence), std::string::npos) << failure;
    EXPECT_NE(failure.find("queue_test.cpp:"), std::string::npos) << failure;
  }
}

}  // namespace
