// Numbers with a rigorous error bound: Arb's balls, mid +- rad with outward rounding, as a number type for the generic formulas.
#pragma once

#include <arb.h>

#include <utility>

namespace phaselock {

/// A real number known to lie in a ball. Every operation encloses the exact result. Doubles convert exactly.
/// Comparisons are true only if they hold for all numbers of the balls, so `!(a < b)` says nothing.
class Ball {
 public:
  /// Bits of precision of every operation in this thread; raised until a question is decided.
  static slong& precision() {
    thread_local slong bits = 128;
    return bits;
  }

  Ball() { arb_init(x_); }
  Ball(double value) : Ball() { arb_set_d(x_, value); }  // NOLINT: the generic formulas rely on the conversion
  Ball(const Ball& other) : Ball() { arb_set(x_, other.x_); }
  Ball(Ball&& other) noexcept : Ball() { arb_swap(x_, other.x_); }
  Ball& operator=(const Ball& other) {
    if (this != &other) arb_set(x_, other.x_);
    return *this;
  }
  Ball& operator=(Ball&& other) noexcept {
    arb_swap(x_, other.x_);
    return *this;
  }
  ~Ball() { arb_clear(x_); }

  /// The smallest ball around both ends, low <= high.
  static Ball hull(const Ball& low, const Ball& high) {
    Ball result;
    arb_union(result.x_, low.x_, high.x_, precision());
    return result;
  }

  Ball& operator+=(const Ball& b) { return arb_add(x_, x_, b.x_, precision()), *this; }
  Ball& operator-=(const Ball& b) { return arb_sub(x_, x_, b.x_, precision()), *this; }
  Ball& operator*=(const Ball& b) { return arb_mul(x_, x_, b.x_, precision()), *this; }
  Ball& operator/=(const Ball& b) { return arb_div(x_, x_, b.x_, precision()), *this; }
  friend Ball operator+(Ball a, const Ball& b) { return a += b; }
  friend Ball operator-(Ball a, const Ball& b) { return a -= b; }
  friend Ball operator*(Ball a, const Ball& b) { return a *= b; }
  friend Ball operator/(Ball a, const Ball& b) { return a /= b; }
  friend Ball operator-(Ball a) { return arb_neg(a.x_, a.x_), a; }

  friend Ball exp(Ball a) { return arb_exp(a.x_, a.x_, precision()), a; }
  friend Ball expm1(Ball a) { return arb_expm1(a.x_, a.x_, precision()), a; }
  friend Ball log(Ball a) { return arb_log(a.x_, a.x_, precision()), a; }
  friend Ball log1p(Ball a) { return arb_log1p(a.x_, a.x_, precision()), a; }
  friend Ball min(Ball a, const Ball& b) { return arb_min(a.x_, a.x_, b.x_, precision()), a; }
  friend Ball max(Ball a, const Ball& b) { return arb_max(a.x_, a.x_, b.x_, precision()), a; }

  friend bool operator<(const Ball& a, const Ball& b) { return arb_lt(a.x_, b.x_); }
  friend bool operator>(const Ball& a, const Ball& b) { return arb_gt(a.x_, b.x_); }

  double mid() const { return arf_get_d(arb_midref(x_), ARF_RND_NEAR); }
  /// Doubles that enclose the ball.
  double lower() const {
    arf_t end;
    arf_init(end);
    arb_get_lbound_arf(end, x_, precision());
    const double d = arf_get_d(end, ARF_RND_FLOOR);
    arf_clear(end);
    return d;
  }
  double upper() const {
    arf_t end;
    arf_init(end);
    arb_get_ubound_arf(end, x_, precision());
    const double d = arf_get_d(end, ARF_RND_CEIL);
    arf_clear(end);
    return d;
  }

 private:
  arb_t x_;
};

/// Sets the precision of this thread's balls, or leaves it, and restores it at the end of the scope.
class ScopedPrecision {
 public:
  explicit ScopedPrecision(slong bits = Ball::precision()) : before_(Ball::precision()) { Ball::precision() = bits; }
  ~ScopedPrecision() { Ball::precision() = before_; }
  ScopedPrecision(const ScopedPrecision&) = delete;
  ScopedPrecision& operator=(const ScopedPrecision&) = delete;

 private:
  slong before_;
};

}  // namespace phaselock
