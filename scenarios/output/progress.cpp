#include "output/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

namespace phaselock {

namespace {

constexpr double redraw_every = 0.1, line_every = 5.0;  // seconds, on a terminal and elsewhere
constexpr int bar_width = 24;

std::string duration_text(double seconds) {
  if (seconds < 100) return fmt::format("{:.0f} s", seconds);
  if (seconds < 6000) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

}  // namespace

ProgressBar::ProgressBar(bool quiet, std::FILE* stream) : quiet_(quiet), terminal_(isatty(fileno(stream)) == 1), stream_(stream) {
  begin("", "");
}

void ProgressBar::begin(std::string what, std::string unit) {
  what_ = std::move(what);
  unit_ = std::move(unit);
  started_ = shown_ = WallClock::now();
}

void ProgressBar::update(double done, double total, double count) {
  if (quiet_) return;
  const WallClock::time_point now = WallClock::now();
  if (std::chrono::duration<double>(now - shown_).count() < (terminal_ ? redraw_every : line_every)) return;
  shown_ = now;
  const double elapsed = std::chrono::duration<double>(now - started_).count();
  const std::string text = line(total > 0 ? std::clamp(done / total, 0.0, 1.0) : 0.0, count, elapsed);
  if (terminal_)
    std::fputs(("\r\x1b[K" + text).c_str(), stream_);
  else
    std::fputs((text + "\n").c_str(), stream_);
  bar_ = terminal_;
  std::fflush(stream_);
}

std::string ProgressBar::line(double fraction, double count, double elapsed) const {
  std::string text = what_ + " ";
  if (terminal_) {
    const int filled = int(fraction * bar_width);
    text += fmt::format("[{}{}] ", std::string(filled, '#'), std::string(bar_width - filled, '.'));
  }
  text += fmt::format("{:.0f}%, {:.3g} {}/s", 100 * fraction, elapsed > 0 ? count / elapsed : 0.0, unit_);
  if (fraction > 0) text += fmt::format(", {} left", duration_text(elapsed * (1 - fraction) / fraction));
  return text;
}

void ProgressBar::clear() {
  if (!bar_) return;
  std::fputs("\r\x1b[K", stream_);
  std::fflush(stream_);
  bar_ = false;
}

}  // namespace phaselock
