// Channels of datasets: order, capacity, time-outs, ends of waits, bad arguments.

#include <array>
#include <cstring>
#include <string>
#include <thread>

#include "acl/acl_tdt.h"
#include "acl_fixture.h"

namespace {

class TdtTest : public AclTest {
 protected:
  // Sends one item with the number through `channel`.
  static aclError send(const acltdtChannelHandle* channel, int32_t number, int32_t timeout = -1) {
    const int64_t one = 1;
    acltdtDataItem* item = acltdtCreateDataItem(ACL_TENSOR_DATA_TENSOR, &one, 1, ACL_INT32, &number, sizeof number);
    acltdtDataset* dataset = acltdtCreateDataset();
    EXPECT_EQ(acltdtAddDataItem(dataset, item), ACL_SUCCESS);
    const aclError code = acltdtSendTensor(channel, dataset, timeout);
    number = -1;  // the channel has a copy
    EXPECT_EQ(acltdtDestroyDataset(dataset), ACL_SUCCESS);
    EXPECT_EQ(acltdtDestroyDataItem(item), ACL_SUCCESS);
    return code;
  }

  static int32_t number_in(const acltdtDataset* dataset) {
    const acltdtDataItem* item = acltdtGetDataItem(dataset, 0);
    int32_t number = 0;
    EXPECT_EQ(acltdtGetDataSizeFromItem(item), sizeof number);
    std::memcpy(&number, acltdtGetDataAddrFromItem(item), sizeof number);
    return number;
  }
};

TEST_F(TdtTest, DatasetsArriveInTheirOrder) {
  acltdtChannelHandle* in = acltdtCreateChannel(0, "order");
  acltdtChannelHandle* out = acltdtCreateChannelWithCapacity(0, "order", 5);
  acltdtChannelHandle* other = acltdtCreateChannel(0, "another name");
  constexpr int32_t kCount = 1000;
  std::thread sender([&] {
    for (int32_t i = 0; i < kCount; ++i) ASSERT_EQ(send(in, i), ACL_SUCCESS);
  });
  acltdtDataset* dataset = acltdtCreateDataset();
  EXPECT_STREQ(acltdtGetDatasetName(dataset), "");
  for (int32_t i = 0; i < kCount; ++i) {
    ASSERT_EQ(acltdtReceiveTensor(out, dataset, -1), ACL_SUCCESS);
    ASSERT_EQ(number_in(dataset), i);
  }
  sender.join();
  EXPECT_EQ(acltdtGetDatasetSize(dataset), 1u);
  EXPECT_STREQ(acltdtGetDatasetName(dataset), "order");
  EXPECT_EQ(acltdtReceiveTensor(other, dataset, 0), ACL_ERROR_RT_QUEUE_EMPTY);
  EXPECT_EQ(number_in(dataset), kCount - 1);
  acltdtDataItem* item = acltdtGetDataItem(dataset, 0);
  EXPECT_EQ(acltdtAddDataItem(dataset, item), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(acltdtDestroyDataset(dataset), ACL_SUCCESS);
  EXPECT_EQ(acltdtGetDataSizeFromItem(item), 0u);  // it went with its dataset
  for (acltdtChannelHandle* handle : {in, out, other}) EXPECT_EQ(acltdtDestroyChannel(handle), ACL_SUCCESS);
}

TEST_F(TdtTest, AFullChannelTakesNoMore) {
  acltdtChannelHandle* channel = acltdtCreateChannelWithCapacity(0, "full", 2);
  EXPECT_EQ(send(channel, 1), ACL_SUCCESS);
  EXPECT_EQ(send(channel, 2), ACL_SUCCESS);
  EXPECT_EQ(send(channel, 3, 5), ACL_ERROR_RT_QUEUE_FULL);
  EXPECT_NE(recent_error().find("still full after 5 ms"), std::string::npos);
  size_t size = 0;
  EXPECT_EQ(acltdtQueryChannelSize(channel, &size), ACL_SUCCESS);
  EXPECT_EQ(size, 2u);
  EXPECT_EQ(acltdtDestroyChannel(channel), ACL_SUCCESS);
  acltdtChannelHandle* again = acltdtCreateChannel(0, "full");
  EXPECT_EQ(acltdtQueryChannelSize(again, &size), ACL_SUCCESS);
  EXPECT_EQ(size, 0u);
  EXPECT_EQ(acltdtDestroyChannel(again), ACL_SUCCESS);
}

TEST_F(TdtTest, StoppingAndDestroyingEndWaits) {
  for (const bool destroys : {false, true}) {
    acltdtChannelHandle* waits = acltdtCreateChannel(0, "waits");
    acltdtChannelHandle* goes_on = acltdtCreateChannel(0, "waits");
    std::thread receiver([&] {
      acltdtDataset* dataset = acltdtCreateDataset();
      EXPECT_NE(acltdtReceiveTensor(waits, dataset, -1), ACL_SUCCESS);
      EXPECT_EQ(acltdtDestroyDataset(dataset), ACL_SUCCESS);
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(destroys ? 0 : 5));
    EXPECT_EQ(destroys ? acltdtDestroyChannel(waits) : acltdtStopChannel(waits), ACL_SUCCESS);
    receiver.join();
    EXPECT_EQ(send(goes_on, 1), ACL_SUCCESS);
    EXPECT_EQ(send(waits, 1), destroys ? ACL_ERROR_INVALID_PARAM : ACL_ERROR_FAILURE);
    EXPECT_EQ(acltdtDestroyChannel(waits), destroys ? ACL_ERROR_INVALID_PARAM : ACL_SUCCESS);
    EXPECT_EQ(acltdtDestroyChannel(goes_on), ACL_SUCCESS);
  }
}

TEST_F(TdtTest, ItemsTellWhatTheyWereMadeOf) {
  std::array<float, 6> values{};
  const std::array<int64_t, 2> sizes{2, 3};
  acltdtDataItem* item =
      acltdtCreateDataItem(ACL_TENSOR_DATA_TENSOR, sizes.data(), 2, ACL_FLOAT, values.data(), sizeof values);
  EXPECT_EQ(acltdtGetTensorTypeFromItem(item), ACL_TENSOR_DATA_TENSOR);
  EXPECT_EQ(acltdtGetDataTypeFromItem(item), ACL_FLOAT);
  EXPECT_EQ(acltdtGetDataAddrFromItem(item), values.data());
  EXPECT_EQ(acltdtGetDimNumFromItem(item), 2u);
  std::array<int64_t, 3> dims{};
  EXPECT_EQ(acltdtGetDimsFromItem(item, dims.data(), 1), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(acltdtGetDimsFromItem(item, nullptr, 2), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(acltdtGetDimsFromItem(item, dims.data(), 3), ACL_SUCCESS);
  EXPECT_EQ(dims, (std::array<int64_t, 3>{2, 3, 0}));
  size_t count = 9;
  size_t index = 9;
  EXPECT_EQ(acltdtGetSliceInfoFromItem(item, &count, &index), ACL_SUCCESS);
  EXPECT_EQ(count + index, 0u);
  EXPECT_EQ(acltdtDestroyDataItem(item), ACL_SUCCESS);
  acltdtDataItem* end = acltdtCreateDataItem(ACL_TENSOR_DATA_END_OF_SEQUENCE, nullptr, 0, ACL_FLOAT, nullptr, 0);
  EXPECT_EQ(acltdtGetDimsFromItem(end, nullptr, 0), ACL_SUCCESS);
  EXPECT_EQ(acltdtDestroyDataItem(end), ACL_SUCCESS);
}

TEST_F(TdtTest, BadArgumentsAreErrors) {
  int32_t number = 0;
  const std::array<int64_t, 2> sizes{1, -1};
  EXPECT_EQ(acltdtCreateDataItem(static_cast<acltdtTensorType>(9), nullptr, 0, ACL_INT32, &number, 4), nullptr);
  EXPECT_EQ(acltdtCreateDataItem(ACL_TENSOR_DATA_TENSOR, sizes.data(), 2, ACL_INT32, &number, 4), nullptr);
  EXPECT_NE(recent_error().find("dimension 1 is -1"), std::string::npos);
  EXPECT_EQ(acltdtCreateDataItem(ACL_TENSOR_DATA_TENSOR, sizes.data(), 1u << 30, ACL_INT32, &number, 4), nullptr);
  EXPECT_EQ(acltdtCreateDataItem(ACL_TENSOR_DATA_TENSOR, sizes.data(), 1, ACL_INT32, nullptr, 4), nullptr);
  EXPECT_EQ(acltdtCreateChannel(99, "name"), nullptr);
  EXPECT_EQ(acltdtCreateChannel(0, nullptr), nullptr);
  EXPECT_EQ(acltdtCreateChannelWithCapacity(0, "name", 0), nullptr);
  acltdtDataset* dataset = acltdtCreateDataset();
  EXPECT_EQ(acltdtGetDataItem(dataset, 0), nullptr);
  EXPECT_EQ(acltdtAddDataItem(dataset, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(acltdtSendTensor(nullptr, dataset, 0), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(acltdtDestroyDataset(dataset), ACL_SUCCESS);
  EXPECT_EQ(acltdtDestroyDataset(dataset), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(acltdtGetDatasetName(nullptr), nullptr);
  EXPECT_EQ(acltdtStopChannel(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(acltdtQueryChannelSize(nullptr, nullptr), ACL_ERROR_INVALID_PARAM);
}

}  // namespace
