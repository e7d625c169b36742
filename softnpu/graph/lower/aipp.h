#pragma once
// Preprocessing of images before a model's input, as atc's --insert_op_conf describes it: bytes of pixels become the
// numbers that the model reads. Facts: configurations and README files in Ascend/samples (Apache-2.0).

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "graph/lower/builder.h"

namespace softnpu::graph {

struct Aipp {
  // The layout of the caller's bytes. kYuv420: rows of luminance, then half as many of interleaved U and V.
  enum class Format { kRgb, kXrgb, kYuv420, kYuv400 };

  size_t input = 0;  // the number of the model's input
  Format format = Format::kRgb;
  int64_t height = 0;  // of the caller's image; 0: the model's
  int64_t width = 0;
  bool crops = false;
  int64_t top = 0, left = 0;                // of the part that is read
  int64_t crop_height = 0, crop_width = 0;  // 0: the model's
  bool pads = false;
  std::array<int64_t, 4> padding{};  // top, bottom, left, right
  double padding_value = 0;
  bool swaps_first_and_last = false;  // of RGB; U and V of YUV
  bool converts = false;  // channel = (matrix (pixel - input_bias)) / 256 + output_bias, rounded and limited to a byte
  std::array<std::array<double, 3>, 3> matrix{};
  std::array<double, 3> input_bias{}, output_bias{};
  std::array<double, 4> mean{}, min{};  // (channel - mean - min) factor
  std::array<double, 4> factor{1, 1, 1, 1};
};

// Reads a file of "aipp_op { key : value ... }". Errors name the line and what there is instead.
Status read_aipp(const std::string& text, std::vector<Aipp>* out);

// Adds an input of bytes named `name` for a model's input [N, C, H, W] of `dtype`; returns the numbers. Refuses sizes
// that do not fit.
ValueId preprocessed(Builder& build, const Aipp& aipp, const std::string& name, const Ints& sizes, aclDataType dtype);

}  // namespace softnpu::graph
