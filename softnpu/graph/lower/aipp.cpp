#include "graph/lower/aipp.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>
#include <string_view>

#include "base/text.h"

namespace softnpu::graph {
namespace {

struct Word {
  std::string text;
  size_t line;
};

// Names, numbers, and the signs { } :. Comments begin with # or //.
std::vector<Word> words_of(const std::string& text) {
  std::vector<Word> words;
  size_t line = 1;
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    const bool is_comment = c == '#' || text.compare(at, 2, "//") == 0;
    if (is_comment) {
      at = std::min(text.find('\n', at), text.size());
    } else if (c == '\n' || c == ' ' || c == '\t' || c == '\r' || c == ',' || c == ';' || c == '"') {
      line += c == '\n' ? 1 : 0;
      ++at;
    } else if (c == '{' || c == '}' || c == ':') {
      words.push_back({std::string(1, c), line});
      ++at;
    } else {
      const size_t end = std::min(text.find_first_of(" \t\r\n{}:,;\"#", at), text.size());
      words.push_back({text.substr(at, end - at), line});
      at = end;
    }
  }
  return words;
}

bool read_real(const std::string& word, double* out) {
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), *out);
  return error == std::errc() && end == word.data() + word.size();
}

using Setter = std::function<bool(const std::string& value, Aipp* out)>;

bool read_flag(const std::string& value, bool* out) {
  *out = value == "true" || value == "1";
  return *out || value == "false" || value == "0";
}

bool read_size(const std::string& value, int64_t* out) {
  double number = 0;
  if (!read_real(value, &number) || number < 0 || number > 1 << 20) return false;
  *out = static_cast<int64_t>(number);
  return static_cast<double>(*out) == number;
}

// An option that has to be off.
Setter off() {
  return [](const std::string& value, Aipp*) {
    bool is_on = false;
    return read_flag(value, &is_on) && !is_on;
  };
}

Setter size(int64_t Aipp::*member) {
  return [member](const std::string& value, Aipp* out) { return read_size(value, &(out->*member)); };
}

Setter flag(bool Aipp::*member) {
  return [member](const std::string& value, Aipp* out) { return read_flag(value, &(out->*member)); };
}

Setter any() {
  return [](const std::string&, Aipp*) { return true; };
}

template <size_t n>
void add_channels(const std::string& prefix, std::array<double, n> Aipp::*member,
                  std::map<std::string, Setter>* table) {
  for (size_t i = 0; i < n; ++i) {
    (*table)[prefix + std::to_string(i)] = [member, i](const std::string& value, Aipp* out) {
      return read_real(value, &(out->*member)[i]);
    };
  }
}

bool read_format(const std::string& value, Aipp* out) {
  static const std::map<std::string_view, Aipp::Format> kFormats = {{"RGB888_U8", Aipp::Format::kRgb},
                                                                    {"XRGB8888_U8", Aipp::Format::kXrgb},
                                                                    {"YUV420SP_U8", Aipp::Format::kYuv420},
                                                                    {"YUV400_U8", Aipp::Format::kYuv400}};
  const auto found = kFormats.find(value);
  if (found == kFormats.end()) return false;
  out->format = found->second;
  return true;
}

const std::map<std::string, Setter>& setters() {
  static const std::map<std::string, Setter> table = [] {
    std::map<std::string, Setter> result = {
        {"aipp_mode", [](const std::string& value, Aipp*) { return value == "static"; }},
        {"input_format", read_format},
        {"related_input_rank",
         [](const std::string& value, Aipp* out) {
           int64_t rank = 0;
           if (!read_size(value, &rank)) return false;
           out->input = static_cast<size_t>(rank);
           return true;
         }},
        {"src_image_size_h", size(&Aipp::height)},
        {"src_image_size_w", size(&Aipp::width)},
        {"crop", flag(&Aipp::crops)},
        {"load_start_pos_h", size(&Aipp::top)},
        {"load_start_pos_w", size(&Aipp::left)},
        {"crop_size_h", size(&Aipp::crop_height)},
        {"crop_size_w", size(&Aipp::crop_width)},
        {"padding", flag(&Aipp::pads)},
        {"padding_value", [](const std::string& value, Aipp* out) { return read_real(value, &out->padding_value); }},
        {"rbuv_swap_switch", flag(&Aipp::swaps_first_and_last)},
        {"csc_switch", flag(&Aipp::converts)},
        {"resize", off()},
        {"ax_swap_switch", off()},
        {"single_line_mode", off()},
        {"support_rotation", off()},
        {"resize_output_h", any()},
        {"resize_output_w", any()},
        {"max_src_image_size", any()},
        {"cpadding_value", any()},
    };
    const char* const sides[] = {"top", "bottom", "left", "right"};
    for (size_t i = 0; i < 4; ++i) {
      result[std::string(sides[i]) + "_padding_size"] = [i](const std::string& value, Aipp* out) {
        return read_size(value, &out->padding[i]);
      };
    }
    for (size_t row = 0; row < 3; ++row) {
      for (size_t column = 0; column < 3; ++column) {
        result[text("matrix_r", row, "c", column)] = [row, column](const std::string& value, Aipp* out) {
          return read_real(value, &out->matrix[row][column]);
        };
      }
    }
    add_channels("input_bias_", &Aipp::input_bias, &result);
    add_channels("output_bias_", &Aipp::output_bias, &result);
    add_channels("mean_chn_", &Aipp::mean, &result);
    add_channels("min_chn_", &Aipp::min, &result);
    add_channels("var_reci_chn_", &Aipp::factor, &result);
    return result;
  }();
  return table;
}

Status wrong(size_t line, const std::string& sentence) {
  return {ACL_ERROR_INVALID_PARAM, text("--insert_op_conf: line ", line, ": ", sentence)};
}

Status set(const Word& key, const Word& value, Aipp* out) {
  const auto found = setters().find(key.text);
  if (found == setters().end()) {
    std::string known;
    for (const auto& [name, setter] : setters()) known += text(known.empty() ? "" : ", ", name);
    return wrong(key.line, text("there is no ", key.text, "; there are ", known));
  }
  if (found->second(value.text, out)) return Status::ok();
  return wrong(value.line, text(key.text, " : ", value.text, " is not implemented"));
}

ValueId slice_image(Builder& build, ValueId x, int64_t top, int64_t left, int64_t height, int64_t width) {
  return build.slice(build.slice(x, 2, top, top + height), 3, left, left + width);
}

ValueId channels_of(Builder& build, const std::vector<double>& values) {
  return build.reals(values, ACL_FLOAT, {1, static_cast<int64_t>(values.size()), 1, 1});
}

// U or V of each pixel of the luminance.
ValueId spread(Builder& build, ValueId x, const Ints& sizes, int64_t height, int64_t width) {
  x = build.view(x, {sizes[0], 1, height / 2, 1, width / 2, 1});
  x = build.broadcast(x, {sizes[0], 1, height / 2, 2, width / 2, 2});
  return build.view(x, {sizes[0], 1, height, width});
}

// The bytes as [N, C, height, width] in float32.
ValueId planes_of(Builder& build, ValueId bytes, const Aipp& aipp, int64_t height, int64_t width) {
  const ValueId x = build.cast(bytes, ACL_FLOAT);
  const Ints sizes = build.sizes(x);
  switch (aipp.format) {
    case Aipp::Format::kRgb: return build.transpose(x, {0, 3, 1, 2});
    case Aipp::Format::kXrgb: return build.transpose(build.slice(x, 3, 1, 4), {0, 3, 1, 2});
    case Aipp::Format::kYuv400: return build.view(x, {sizes[0], 1, height, width});
    case Aipp::Format::kYuv420: break;
  }
  const ValueId luminance = build.view(build.slice(x, 1, 0, height), {sizes[0], 1, height, width});
  const ValueId colors = build.view(build.slice(x, 1, height, height / 2 * 3), {sizes[0], height / 2, width / 2, 2});
  const ValueId u = spread(build, build.slice(colors, 3, 0, 1), sizes, height, width);
  const ValueId v = spread(build, build.slice(colors, 3, 1, 2), sizes, height, width);
  return build.concatenate(aipp.swaps_first_and_last ? std::vector{luminance, v, u} : std::vector{luminance, u, v}, 1);
}

ValueId converted(Builder& build, ValueId x, const Aipp& aipp) {
  x = build.sub(x, channels_of(build, {aipp.input_bias.begin(), aipp.input_bias.end()}));
  std::vector<ValueId> result;
  for (size_t row = 0; row < 3; ++row) {
    const ValueId products = build.mul(x, channels_of(build, {aipp.matrix[row].begin(), aipp.matrix[row].end()}));
    const ValueId sum = build.reduce("ReduceSum", products, {1}, true);
    result.push_back(build.shifted(build.scaled(sum, 1.0 / 256), aipp.output_bias[row] + 0.5));
  }
  const ValueId rounded = build.emit("Floor", {{build.concatenate(result, 1)}});
  return build.emit("Minimum", {{build.emit("Maximum", {{rounded}, build.number(0)})}, build.number(255)});
}

}  // namespace

Status read_aipp(const std::string& file, std::vector<Aipp>* out) {
  const std::vector<Word> words = words_of(file);
  for (size_t at = 0; at < words.size();) {
    if (words[at].text != "aipp_op" || at + 1 >= words.size() || words[at + 1].text != "{") {
      return wrong(words[at].line, text("\"", words[at].text, "\" is found, where \"aipp_op {\" begins a block"));
    }
    Aipp aipp;
    bool has_format = false;
    for (at += 2; at < words.size() && words[at].text != "}"; at += 3) {
      if (at + 2 >= words.size() || words[at + 1].text != ":") {
        return wrong(words[at].line, text("\"", words[at].text, "\" has no value"));
      }
      has_format |= words[at].text == "input_format";
      SOFTNPU_RETURN_IF_ERROR(set(words[at], words[at + 2], &aipp));
    }
    if (at >= words.size()) return wrong(words.back().line, "a block has no end");
    if (!has_format) return wrong(words[at].line, "input_format is missing");
    ++at;
    out->push_back(aipp);
  }
  return out->empty() ? wrong(1, "there is no aipp_op") : Status::ok();
}

ValueId preprocessed(Builder& build, const Aipp& aipp, const std::string& name, const Ints& sizes, aclDataType dtype) {
  if (sizes.size() != 4) throw Refused(text("--insert_op_conf: the input ", name, " is no image [N, C, H, W]"));
  const std::array<int64_t, 4> none{};
  const std::array<int64_t, 4>& pads = aipp.pads ? aipp.padding : none;
  const int64_t inner_height = sizes[2] - pads[0] - pads[1];
  const int64_t inner_width = sizes[3] - pads[2] - pads[3];
  const int64_t height = aipp.height > 0 ? aipp.height : inner_height;
  const int64_t width = aipp.width > 0 ? aipp.width : inner_width;
  const bool is_gray = aipp.format == Aipp::Format::kYuv400;
  Ints bytes = {sizes[0], height, width};
  if (aipp.format == Aipp::Format::kYuv420) {
    if (height % 2 != 0 || width % 2 != 0) throw Refused("--insert_op_conf: images of YUV420SP_U8 have even sizes");
    bytes[1] = height / 2 * 3;
  } else if (!is_gray) {
    bytes.push_back(aipp.format == Aipp::Format::kRgb ? 3 : 4);
  }
  const int64_t rows = aipp.crops && aipp.crop_height > 0 ? aipp.crop_height : aipp.crops ? inner_height : height;
  const int64_t columns = aipp.crops && aipp.crop_width > 0 ? aipp.crop_width : aipp.crops ? inner_width : width;
  const int64_t top = aipp.crops ? aipp.top : 0;
  const int64_t left = aipp.crops ? aipp.left : 0;
  const bool fits = rows == inner_height && columns == inner_width && sizes[1] == (is_gray ? 1 : 3) &&
                    top + rows <= height && left + columns <= width && inner_height > 0 && inner_width > 0;
  if (!fits) {
    throw Refused(text("--insert_op_conf makes [", sizes[0], ", ", is_gray ? 1 : 3, ", ", rows + pads[0] + pads[1],
                       ", ", columns + pads[2] + pads[3], "] of an image ", height, " x ", width, ", where the input ",
                       name, " is [", sizes[0], ", ", sizes[1], ", ", sizes[2], ", ", sizes[3], "]"));
  }
  Value value;
  value.name = name;
  value.kind = ValueKind::kInput;
  value.dtype = ACL_UINT8;
  value.dims = Dims(bytes);
  const ValueId id = build.graph().add(std::move(value));
  build.graph().inputs.push_back(id);
  build.note_input();
  build.set_node_name("aipp of " + name);
  ValueId x = slice_image(build, planes_of(build, id, aipp, height, width), top, left, rows, columns);
  if (aipp.converts && !is_gray) x = converted(build, x, aipp);
  if (aipp.swaps_first_and_last && (aipp.format == Aipp::Format::kRgb || aipp.format == Aipp::Format::kXrgb)) {
    x = build.take(x, 1, {2, 1, 0});
  }
  std::vector<double> subtracted;
  std::vector<double> factors;
  for (int64_t c = 0; c < sizes[1]; ++c) {
    subtracted.push_back(aipp.mean[c] + aipp.min[c]);
    factors.push_back(aipp.factor[c]);
  }
  x = build.mul(build.sub(x, channels_of(build, subtracted)), channels_of(build, factors));
  if (aipp.pads) {
    Ints before = {0, 0, pads[0], pads[2]};
    Ints after = {0, 0, pads[1], pads[3]};
    Ints pairs;
    for (size_t i = 0; i < 4; ++i) pairs.insert(pairs.end(), {before[i], after[i]});
    x = build.emit("PadV3", {{x}, build.host(pairs), build.number_for(x, aipp.padding_value)});
  }
  return build.cast(x, dtype);
}

}  // namespace softnpu::graph
