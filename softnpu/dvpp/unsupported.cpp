// Functions that libacl_dvpp exports and does not support.

#include "base/unsupported.h"
#include "acl/ops/acl_dvpp.h"

using softnpu::unsupported;

namespace {

constexpr const char* kVideo = "video is not implemented: decode it on the host, and copy the pictures";
constexpr const char* kRest = "it is not implemented: call the functions for one picture, or work on the host";

// The result of functions that return no code.
template <typename T>
T nothing(const char* function, const char* sentence) {
  (void)unsupported(function, sentence);
  return T{};
}

}  // namespace

aclvdecChannelDesc* aclvdecCreateChannelDesc() { return nothing<aclvdecChannelDesc*>(__func__, kVideo); }
aclError aclvdecDestroyChannelDesc(aclvdecChannelDesc*) { return unsupported(__func__, kVideo); }
aclError aclvdecSetChannelDescChannelId(aclvdecChannelDesc*, uint32_t) { return unsupported(__func__, kVideo); }
aclError aclvdecSetChannelDescThreadId(aclvdecChannelDesc*, uint64_t) { return unsupported(__func__, kVideo); }
aclError aclvdecSetChannelDescCallback(aclvdecChannelDesc*, aclvdecCallback) { return unsupported(__func__, kVideo); }
aclError aclvdecSetChannelDescEnType(aclvdecChannelDesc*, acldvppStreamFormat) { return unsupported(__func__, kVideo); }
aclError aclvdecSetChannelDescOutPicFormat(aclvdecChannelDesc*, acldvppPixelFormat) {
  return unsupported(__func__, kVideo);
}
aclError aclvdecSetChannelDescOutPicWidth(aclvdecChannelDesc*, uint32_t) { return unsupported(__func__, kVideo); }
aclError aclvdecSetChannelDescOutPicHeight(aclvdecChannelDesc*, uint32_t) { return unsupported(__func__, kVideo); }
aclError aclvdecSetChannelDescRefFrameNum(aclvdecChannelDesc*, uint32_t) { return unsupported(__func__, kVideo); }
aclError aclvdecSetChannelDescBitDepth(aclvdecChannelDesc*, uint32_t) { return unsupported(__func__, kVideo); }
uint32_t aclvdecGetChannelDescChannelId(const aclvdecChannelDesc*) { return nothing<uint32_t>(__func__, kVideo); }
uint64_t aclvdecGetChannelDescThreadId(const aclvdecChannelDesc*) { return nothing<uint64_t>(__func__, kVideo); }
aclvdecCallback aclvdecGetChannelDescCallback(const aclvdecChannelDesc*) {
  return nothing<aclvdecCallback>(__func__, kVideo);
}
acldvppStreamFormat aclvdecGetChannelDescEnType(const aclvdecChannelDesc*) {
  return nothing<acldvppStreamFormat>(__func__, kVideo);
}
acldvppPixelFormat aclvdecGetChannelDescOutPicFormat(const aclvdecChannelDesc*) {
  return nothing<acldvppPixelFormat>(__func__, kVideo);
}
uint32_t aclvdecGetChannelDescOutPicWidth(const aclvdecChannelDesc*) { return nothing<uint32_t>(__func__, kVideo); }
uint32_t aclvdecGetChannelDescOutPicHeight(const aclvdecChannelDesc*) { return nothing<uint32_t>(__func__, kVideo); }
uint32_t aclvdecGetChannelDescBitDepth(const aclvdecChannelDesc*) { return nothing<uint32_t>(__func__, kVideo); }
uint32_t aclvdecGetChannelDescRefFrameNum(const aclvdecChannelDesc*) { return nothing<uint32_t>(__func__, kVideo); }
aclvencChannelDesc* aclvencCreateChannelDesc() { return nothing<aclvencChannelDesc*>(__func__, kVideo); }
aclError aclvencDestroyChannelDesc(aclvencChannelDesc*) { return unsupported(__func__, kVideo); }
aclError aclvencSetChannelDescThreadId(aclvencChannelDesc*, uint64_t) { return unsupported(__func__, kVideo); }
aclError aclvencSetChannelDescCallback(aclvencChannelDesc*, aclvencCallback) { return unsupported(__func__, kVideo); }
aclError aclvencSetChannelDescEnType(aclvencChannelDesc*, acldvppStreamFormat) { return unsupported(__func__, kVideo); }
aclError aclvencSetChannelDescPicFormat(aclvencChannelDesc*, acldvppPixelFormat) {
  return unsupported(__func__, kVideo);
}
aclError aclvencSetChannelDescPicWidth(aclvencChannelDesc*, uint32_t) { return unsupported(__func__, kVideo); }
aclError aclvencSetChannelDescPicHeight(aclvencChannelDesc*, uint32_t) { return unsupported(__func__, kVideo); }
aclError aclvencSetChannelDescKeyFrameInterval(aclvencChannelDesc*, uint32_t) { return unsupported(__func__, kVideo); }
aclError aclvencSetChannelDescBufAddr(aclvencChannelDesc*, void*) { return unsupported(__func__, kVideo); }
aclError aclvencSetChannelDescBufSize(aclvencChannelDesc*, uint32_t) { return unsupported(__func__, kVideo); }
aclError aclvencSetChannelDescRcMode(aclvencChannelDesc*, uint32_t) { return unsupported(__func__, kVideo); }
aclError aclvencSetChannelDescSrcRate(aclvencChannelDesc*, uint32_t) { return unsupported(__func__, kVideo); }
aclError aclvencSetChannelDescMaxBitRate(aclvencChannelDesc*, uint32_t) { return unsupported(__func__, kVideo); }
aclError aclvencSetChannelDescParam(aclvencChannelDesc*, aclvencChannelDescParamType, size_t, const void*) {
  return unsupported(__func__, kVideo);
}
void* aclvencGetChannelDescBufAddr(const aclvencChannelDesc*) { return nothing<void*>(__func__, kVideo); }
uint32_t aclvencGetChannelDescBufSize(const aclvencChannelDesc*) { return nothing<uint32_t>(__func__, kVideo); }
uint32_t aclvencGetChannelDescChannelId(const aclvencChannelDesc*) { return nothing<uint32_t>(__func__, kVideo); }
uint64_t aclvencGetChannelDescThreadId(const aclvencChannelDesc*) { return nothing<uint64_t>(__func__, kVideo); }
aclvencCallback aclvencGetChannelDescCallback(const aclvencChannelDesc*) {
  return nothing<aclvencCallback>(__func__, kVideo);
}
acldvppStreamFormat aclvencGetChannelDescEnType(const aclvencChannelDesc*) {
  return nothing<acldvppStreamFormat>(__func__, kVideo);
}
acldvppPixelFormat aclvencGetChannelDescPicFormat(const aclvencChannelDesc*) {
  return nothing<acldvppPixelFormat>(__func__, kVideo);
}
uint32_t aclvencGetChannelDescPicWidth(const aclvencChannelDesc*) { return nothing<uint32_t>(__func__, kVideo); }
uint32_t aclvencGetChannelDescPicHeight(const aclvencChannelDesc*) { return nothing<uint32_t>(__func__, kVideo); }
uint32_t aclvencGetChannelDescKeyFrameInterval(const aclvencChannelDesc*) {
  return nothing<uint32_t>(__func__, kVideo);
}
uint32_t aclvencGetChannelDescRcMode(const aclvencChannelDesc*) { return nothing<uint32_t>(__func__, kVideo); }
uint32_t aclvencGetChannelDescSrcRate(const aclvencChannelDesc*) { return nothing<uint32_t>(__func__, kVideo); }
uint32_t aclvencGetChannelDescMaxBitRate(const aclvencChannelDesc*) { return nothing<uint32_t>(__func__, kVideo); }
aclError aclvencGetChannelDescParam(const aclvencChannelDesc*, aclvencChannelDescParamType, size_t, size_t*, void*) {
  return unsupported(__func__, kVideo);
}
uint8_t aclvencGetFrameConfigForceIFrame(const aclvencFrameConfig*) { return nothing<uint8_t>(__func__, kVideo); }
uint8_t aclvencGetFrameConfigEos(const aclvencFrameConfig*) { return nothing<uint8_t>(__func__, kVideo); }
aclError aclvencSetFrameConfigForceIFrame(aclvencFrameConfig*, uint8_t) { return unsupported(__func__, kVideo); }
aclError aclvencSetFrameConfigEos(aclvencFrameConfig*, uint8_t) { return unsupported(__func__, kVideo); }
aclError aclvencDestroyFrameConfig(aclvencFrameConfig*) { return unsupported(__func__, kVideo); }
aclvencFrameConfig* aclvencCreateFrameConfig() { return nothing<aclvencFrameConfig*>(__func__, kVideo); }
aclError aclvencCreateChannel(aclvencChannelDesc*) { return unsupported(__func__, kVideo); }
aclError aclvencDestroyChannel(aclvencChannelDesc*) { return unsupported(__func__, kVideo); }
aclError aclvencSendFrame(aclvencChannelDesc*, acldvppPicDesc*, void*, aclvencFrameConfig*, void*) {
  return unsupported(__func__, kVideo);
}
aclvdecFrameConfig* aclvdecCreateFrameConfig() { return nothing<aclvdecFrameConfig*>(__func__, kVideo); }
aclError aclvdecDestroyFrameConfig(aclvdecFrameConfig*) { return unsupported(__func__, kVideo); }
aclError acldvppVpcBatchCropAsync(acldvppChannelDesc*, acldvppBatchPicDesc*, uint32_t*, uint32_t, acldvppBatchPicDesc*,
                                  acldvppRoiConfig*[], aclrtStream) {
  return unsupported(__func__, kRest);
}
aclError acldvppVpcBatchCropResizeAsync(acldvppChannelDesc*, acldvppBatchPicDesc*, uint32_t*, uint32_t,
                                        acldvppBatchPicDesc*, acldvppRoiConfig*[], acldvppResizeConfig*, aclrtStream) {
  return unsupported(__func__, kRest);
}
aclError acldvppVpcBatchCropAndPasteAsync(acldvppChannelDesc*, acldvppBatchPicDesc*, uint32_t*, uint32_t,
                                          acldvppBatchPicDesc*, acldvppRoiConfig*[], acldvppRoiConfig*[], aclrtStream) {
  return unsupported(__func__, kRest);
}
aclError acldvppVpcBatchCropResizePasteAsync(acldvppChannelDesc*, acldvppBatchPicDesc*, uint32_t*, uint32_t,
                                             acldvppBatchPicDesc*, acldvppRoiConfig*[], acldvppRoiConfig*[],
                                             acldvppResizeConfig*, aclrtStream) {
  return unsupported(__func__, kRest);
}
aclError aclvdecCreateChannel(aclvdecChannelDesc*) { return unsupported(__func__, kVideo); }
aclError aclvdecDestroyChannel(aclvdecChannelDesc*) { return unsupported(__func__, kVideo); }
aclError aclvdecSendFrame(aclvdecChannelDesc*, acldvppStreamDesc*, acldvppPicDesc*, aclvdecFrameConfig*, void*) {
  return unsupported(__func__, kVideo);
}
aclError aclvdecSendSkippedFrame(aclvdecChannelDesc*, acldvppStreamDesc*, aclvdecFrameConfig*, void*) {
  return unsupported(__func__, kVideo);
}
aclError acldvppVpcPyrDownAsync(acldvppChannelDesc*, acldvppPicDesc*, acldvppPicDesc*, void*, aclrtStream) {
  return unsupported(__func__, kRest);
}
aclError aclvdecSetChannelDescOutMode(aclvdecChannelDesc*, uint32_t) { return unsupported(__func__, kVideo); }
uint32_t aclvdecGetChannelDescOutMode(const aclvdecChannelDesc*) { return nothing<uint32_t>(__func__, kVideo); }
acldvppBatchPicDesc* acldvppCreateBatchPicDesc(uint32_t) { return nothing<acldvppBatchPicDesc*>(__func__, kRest); }
acldvppPicDesc* acldvppGetPicDesc(acldvppBatchPicDesc*, uint32_t) { return nothing<acldvppPicDesc*>(__func__, kRest); }
aclError acldvppDestroyBatchPicDesc(acldvppBatchPicDesc*) { return unsupported(__func__, kRest); }
acldvppLutMap* acldvppCreateLutMap() { return nothing<acldvppLutMap*>(__func__, kRest); }
aclError acldvppDestroyLutMap(acldvppLutMap*) { return unsupported(__func__, kRest); }
uint32_t acldvppGetLutMapDims(const acldvppLutMap*) { return nothing<uint32_t>(__func__, kRest); }
aclError acldvppGetLutMapData(const acldvppLutMap*, uint32_t, uint8_t**, uint32_t*) {
  return unsupported(__func__, kRest);
}
aclError acldvppVpcEqualizeHistAsync(const acldvppChannelDesc*, const acldvppPicDesc*, acldvppPicDesc*,
                                     const acldvppLutMap*, aclrtStream) {
  return unsupported(__func__, kRest);
}
acldvppBorderConfig* acldvppCreateBorderConfig() { return nothing<acldvppBorderConfig*>(__func__, kRest); }
aclError acldvppSetBorderConfigValue(acldvppBorderConfig*, uint32_t, double) { return unsupported(__func__, kRest); }
aclError acldvppSetBorderConfigBorderType(acldvppBorderConfig*, acldvppBorderType) {
  return unsupported(__func__, kRest);
}
aclError acldvppSetBorderConfigTop(acldvppBorderConfig*, uint32_t) { return unsupported(__func__, kRest); }
aclError acldvppSetBorderConfigBottom(acldvppBorderConfig*, uint32_t) { return unsupported(__func__, kRest); }
aclError acldvppSetBorderConfigLeft(acldvppBorderConfig*, uint32_t) { return unsupported(__func__, kRest); }
aclError acldvppSetBorderConfigRight(acldvppBorderConfig*, uint32_t) { return unsupported(__func__, kRest); }
double acldvppGetBorderConfigValue(const acldvppBorderConfig*, uint32_t) { return nothing<double>(__func__, kRest); }
acldvppBorderType acldvppGetBorderConfigBorderType(const acldvppBorderConfig*) {
  return nothing<acldvppBorderType>(__func__, kRest);
}
uint32_t acldvppGetBorderConfigTop(const acldvppBorderConfig*) { return nothing<uint32_t>(__func__, kRest); }
uint32_t acldvppGetBorderConfigBottom(const acldvppBorderConfig*) { return nothing<uint32_t>(__func__, kRest); }
uint32_t acldvppGetBorderConfigLeft(const acldvppBorderConfig*) { return nothing<uint32_t>(__func__, kRest); }
uint32_t acldvppGetBorderConfigRight(const acldvppBorderConfig*) { return nothing<uint32_t>(__func__, kRest); }
aclError acldvppDestroyBorderConfig(acldvppBorderConfig*) { return unsupported(__func__, kRest); }
aclError acldvppVpcMakeBorderAsync(const acldvppChannelDesc*, const acldvppPicDesc*, acldvppPicDesc*,
                                   const acldvppBorderConfig*, aclrtStream) {
  return unsupported(__func__, kRest);
}
aclError acldvppVpcCalcHistAsync(acldvppChannelDesc*, acldvppPicDesc*, acldvppHist*, void*, aclrtStream) {
  return unsupported(__func__, kRest);
}
acldvppHist* acldvppCreateHist() { return nothing<acldvppHist*>(__func__, kRest); }
aclError acldvppDestroyHist(acldvppHist*) { return unsupported(__func__, kRest); }
uint32_t acldvppGetHistDims(acldvppHist*) { return nothing<uint32_t>(__func__, kRest); }
aclError acldvppGetHistData(acldvppHist*, uint32_t, uint32_t**, uint16_t*) { return unsupported(__func__, kRest); }
uint32_t acldvppGetHistRetCode(acldvppHist*) { return nothing<uint32_t>(__func__, kRest); }
aclError acldvppClearHist(acldvppHist*) { return unsupported(__func__, kRest); }
aclError acldvppVpcBatchCropResizeMakeBorderAsync(acldvppChannelDesc*, acldvppBatchPicDesc*, uint32_t*, uint32_t,
                                                  acldvppBatchPicDesc*, acldvppRoiConfig*[], acldvppBorderConfig*[],
                                                  acldvppResizeConfig*, aclrtStream) {
  return unsupported(__func__, kRest);
}
aclError aclvdecSetChannelDescParam(aclvdecChannelDesc*, aclvdecChannelDescParamType, size_t, const void*) {
  return unsupported(__func__, kVideo);
}
aclError aclvdecGetChannelDescParam(const aclvdecChannelDesc*, aclvdecChannelDescParamType, size_t, size_t*, void*) {
  return unsupported(__func__, kVideo);
}
