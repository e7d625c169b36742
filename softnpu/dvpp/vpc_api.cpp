// Resize, crop, paste and conversion of colors.

#include <memory>
#include <optional>
#include <utility>

#include "base/border.h"
#include "base/text.h"
#include "dvpp/channel.h"
#include "dvpp/colors.h"
#include "dvpp/picture.h"
#include "dvpp/scale.h"

using softnpu::api;
using softnpu::Area;
using softnpu::Picture;
using softnpu::PictureFields;
using softnpu::Status;
using softnpu::text;

namespace {

// The area, or the whole picture without one.
Status read_area(const char* role, const std::optional<acldvppRoiConfig>& given, const Picture& picture, Area* out) {
  if (!given.has_value()) {
    *out = {0, 0, picture.width, picture.height};
    return Status::ok();
  }
  const auto [left, right, top, bottom] = *given;
  if (right < left || bottom < top || right >= picture.width || bottom >= picture.height) {
    return {ACL_ERROR_INVALID_PARAM,
            text(role, ", columns ", left, " to ", right, " and rows ", top, " to ", bottom, ", is not within the ",
                 picture.width, " x ", picture.height, " pixels of its picture")};
  }
  if (left % 2 != 0 || top % 2 != 0 || right % 2 == 0 || bottom % 2 == 0) {
    return {ACL_ERROR_INVALID_PARAM, text(role, ", columns ", left, " to ", right, " and rows ", top, " to ", bottom,
                                          ", does not begin with even numbers and end with odd ones")};
  }
  *out = {left, top, int64_t{right} - left + 1, int64_t{bottom} - top + 1};
  return Status::ok();
}

Status find_area(const acldvppRoiConfig* handle, std::optional<acldvppRoiConfig>* out) {
  std::shared_ptr<acldvppRoiConfig> area;
  SOFTNPU_RETURN_IF_ERROR(softnpu::areas().find(handle, &area));
  *out = *area;
  return Status::ok();
}

struct Areas {
  std::optional<acldvppRoiConfig> crop;
  std::optional<acldvppRoiConfig> paste;
  bool keeps_size = false;  // the areas have the same sizes
};

Status scale_areas(const PictureFields& input, const PictureFields& output, const Areas& areas, bool only_checks,
                   Picture* to) {
  Picture from;
  SOFTNPU_RETURN_IF_ERROR(softnpu::describe("the input", input, softnpu::Sides::kEven, &from));
  SOFTNPU_RETURN_IF_ERROR(softnpu::describe("the output", output, softnpu::Sides::kEven, to));
  Area of;
  Area into;
  SOFTNPU_RETURN_IF_ERROR(read_area("the area of the crop", areas.crop, from, &of));
  SOFTNPU_RETURN_IF_ERROR(read_area("the area of the paste", areas.paste, *to, &into));
  if (areas.keeps_size && (of.width != into.width || of.height != into.height)) {
    return {ACL_ERROR_INVALID_PARAM, text("the crop is ", of.width, " x ", of.height, " pixels, the output ",
                                          into.width, " x ", into.height, ": call acldvppVpcCropResizeAsync")};
  }
  return only_checks ? Status::ok() : softnpu::scale(from, of, *to, into);
}

// Checks now, and again when the work runs: its memory may be freed in between.
template <typename Read>
aclError launch_scale(const char* name, const acldvppChannelDesc* channel_handle, const acldvppPicDesc* input,
                      const acldvppPicDesc* output, aclrtStream stream, const Read& read) {
  return api(name, [&] {
    std::shared_ptr<acldvppChannelDesc> channel;
    SOFTNPU_RETURN_IF_ERROR(softnpu::find_channel(channel_handle, DVPP_CHNMODE_VPC, &channel));
    std::shared_ptr<acldvppPicDesc> from;
    std::shared_ptr<acldvppPicDesc> to;
    SOFTNPU_RETURN_IF_ERROR(softnpu::pictures().find(input, &from));
    SOFTNPU_RETURN_IF_ERROR(softnpu::pictures().find(output, &to));
    Areas areas;
    SOFTNPU_RETURN_IF_ERROR(read(&areas));
    Picture written;
    const PictureFields in = softnpu::fields_of(*from);
    const PictureFields out = softnpu::fields_of(*to);
    SOFTNPU_RETURN_IF_ERROR(scale_areas(in, out, areas, true, &written));
    auto work = [in, out, areas] {
      Picture now;
      return scale_areas(in, out, areas, false, &now);
    };
    return softnpu::launch_picture_work(name, stream, std::move(work), std::move(to), written.address, written.bytes);
  });
}

Status check_resize(const acldvppResizeConfig* handle) {
  std::shared_ptr<acldvppResizeConfig> config;
  return softnpu::resize_configs().find(handle, &config);
}

}  // namespace

aclError acldvppVpcResizeAsync(acldvppChannelDesc* channelDesc, acldvppPicDesc* inputDesc, acldvppPicDesc* outputDesc,
                               acldvppResizeConfig* resizeConfig, aclrtStream stream) {
  return launch_scale("acldvppVpcResizeAsync", channelDesc, inputDesc, outputDesc, stream,
                      [&](Areas*) { return check_resize(resizeConfig); });
}

aclError acldvppVpcCropAsync(acldvppChannelDesc* channelDesc, acldvppPicDesc* inputDesc, acldvppPicDesc* outputDesc,
                             acldvppRoiConfig* cropArea, aclrtStream stream) {
  return launch_scale("acldvppVpcCropAsync", channelDesc, inputDesc, outputDesc, stream, [&](Areas* areas) {
    areas->keeps_size = true;
    return find_area(cropArea, &areas->crop);
  });
}

aclError acldvppVpcCropResizeAsync(acldvppChannelDesc* channelDesc, acldvppPicDesc* inputDesc,
                                   acldvppPicDesc* outputDesc, acldvppRoiConfig* cropArea,
                                   acldvppResizeConfig* resizeConfig, aclrtStream stream) {
  return launch_scale("acldvppVpcCropResizeAsync", channelDesc, inputDesc, outputDesc, stream, [&](Areas* areas) {
    SOFTNPU_RETURN_IF_ERROR(check_resize(resizeConfig));
    return find_area(cropArea, &areas->crop);
  });
}

aclError acldvppVpcCropAndPasteAsync(acldvppChannelDesc* channelDesc, acldvppPicDesc* inputDesc,
                                     acldvppPicDesc* outputDesc, acldvppRoiConfig* cropArea,
                                     acldvppRoiConfig* pasteArea, aclrtStream stream) {
  return launch_scale("acldvppVpcCropAndPasteAsync", channelDesc, inputDesc, outputDesc, stream, [&](Areas* areas) {
    SOFTNPU_RETURN_IF_ERROR(find_area(cropArea, &areas->crop));
    return find_area(pasteArea, &areas->paste);
  });
}

aclError acldvppVpcCropResizePasteAsync(acldvppChannelDesc* channelDesc, acldvppPicDesc* inputDesc,
                                        acldvppPicDesc* outputDesc, acldvppRoiConfig* cropArea,
                                        acldvppRoiConfig* pasteArea, acldvppResizeConfig* resizeConfig,
                                        aclrtStream stream) {
  return launch_scale("acldvppVpcCropResizePasteAsync", channelDesc, inputDesc, outputDesc, stream, [&](Areas* areas) {
    SOFTNPU_RETURN_IF_ERROR(check_resize(resizeConfig));
    SOFTNPU_RETURN_IF_ERROR(find_area(cropArea, &areas->crop));
    return find_area(pasteArea, &areas->paste);
  });
}

aclError acldvppVpcConvertColorAsync(acldvppChannelDesc* channelDesc, acldvppPicDesc* inputDesc,
                                     acldvppPicDesc* outputDesc, aclrtStream stream) {
  return api("acldvppVpcConvertColorAsync", [&] {
    std::shared_ptr<acldvppChannelDesc> channel;
    SOFTNPU_RETURN_IF_ERROR(softnpu::find_channel(channelDesc, DVPP_CHNMODE_VPC, &channel));
    std::shared_ptr<acldvppPicDesc> from;
    std::shared_ptr<acldvppPicDesc> to;
    SOFTNPU_RETURN_IF_ERROR(softnpu::pictures().find(inputDesc, &from));
    SOFTNPU_RETURN_IF_ERROR(softnpu::pictures().find(outputDesc, &to));
    Picture written;
    const PictureFields in = softnpu::fields_of(*from);
    const PictureFields out = softnpu::fields_of(*to);
    SOFTNPU_RETURN_IF_ERROR(softnpu::describe("the input", in, softnpu::Sides::kEven, &written));
    SOFTNPU_RETURN_IF_ERROR(softnpu::describe("the output", out, softnpu::Sides::kEven, &written));
    auto work = [in, out, matrix = channel->csc_matrix.load()] {
      Picture source;
      Picture target;
      SOFTNPU_RETURN_IF_ERROR(softnpu::describe("the input", in, softnpu::Sides::kEven, &source));
      SOFTNPU_RETURN_IF_ERROR(softnpu::describe("the output", out, softnpu::Sides::kEven, &target));
      return softnpu::convert_colors(source, target, matrix);
    };
    return softnpu::launch_picture_work("acldvppVpcConvertColorAsync", stream, std::move(work), std::move(to),
                                        written.address, written.bytes);
  });
}
