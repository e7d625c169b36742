#pragma once
// The figures of a chip that the timeline counts with: each with its unit and its source, all to be overridden.

#include <span>
#include <string>
#include <string_view>

namespace softnpu::kernel::timeline {

struct Figures {
  double cores = 0;
  double frequency = 0;
  double hbm_bandwidth = 0;
  double core_bandwidth = 0;
  double line_bytes = 0;
  double copy_start = 0;
  double burst = 0;
  double vector_bytes = 0;
  double vector_start = 0;
  double function_passes = 0;
  double cube = 0;
  double issue = 0;
  double scalar_local = 0;
  double scalar_global = 0;
  double sync_all = 0;
};

struct FigureRow {
  const char* name;
  double Figures::*member;
  double value;
  const char* unit;
  const char* source;
};

std::span<const FigureRow> figure_rows();
Figures public_figures();

// Overrides `figures` by lines of a name and a number; # begins a comment. Empty, or what is wrong, with its line.
std::string override_figures(std::string_view text, const std::string& file, Figures* figures);

}  // namespace softnpu::kernel::timeline
