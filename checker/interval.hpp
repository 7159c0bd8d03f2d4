// Closed intervals of real numbers with outward rounding: MPFI as a number type.
#pragma once

#include <mpfi.h>

#include <concepts>
#include <utility>

namespace phaselock_check {

/// An interval that holds a real number, or every value of one. Each operation encloses the results for all numbers of its
/// operands. Doubles and integers of up to 64 bits convert exactly.
class Interval {
 public:
  /// Bits of every operation, at least 64.
  static mpfr_prec_t& precision() {
    static mpfr_prec_t bits = 128;
    return bits;
  }

  Interval() : Interval(0L) {}
  Interval(double value) { mpfi_init2(x_, precision()), mpfi_set_d(x_, value); }  // NOLINT: formulas mix them with numbers
  template <std::integral Integer>
  Interval(Integer value) {  // NOLINT
    mpfi_init2(x_, precision()), mpfi_set_si(x_, long(value));
  }
  Interval(const Interval& other) { mpfi_init2(x_, precision()), mpfi_set(x_, other.x_); }
  Interval(Interval&& other) noexcept { mpfi_init2(x_, MPFR_PREC_MIN), mpfi_swap(x_, other.x_); }
  Interval& operator=(Interval other) noexcept { return mpfi_swap(x_, other.x_), *this; }
  ~Interval() { mpfi_clear(x_); }

  /// The ends, as intervals of one point.
  Interval low() const { return end(&x_->left); }
  Interval high() const { return end(&x_->right); }

  /// True only if all numbers of the interval are > 0, or < 0. Both are false for the result of an invalid operation.
  bool positive() const { return !mpfi_nan_p(x_) && mpfr_sgn(&x_->left) > 0; }
  bool negative() const { return !mpfi_nan_p(x_) && mpfr_sgn(&x_->right) < 0; }

  /// Doubles that enclose the interval.
  double lower() const { return mpfr_get_d(&x_->left, MPFR_RNDD); }
  double upper() const { return mpfr_get_d(&x_->right, MPFR_RNDU); }

  friend Interval operator+(Interval a, const Interval& b) { return mpfi_add(a.x_, a.x_, b.x_), a; }
  friend Interval operator-(Interval a, const Interval& b) { return mpfi_sub(a.x_, a.x_, b.x_), a; }
  friend Interval operator*(Interval a, const Interval& b) { return mpfi_mul(a.x_, a.x_, b.x_), a; }
  friend Interval operator/(Interval a, const Interval& b) { return mpfi_div(a.x_, a.x_, b.x_), a; }
  friend Interval operator-(Interval a) { return mpfi_neg(a.x_, a.x_), a; }

  friend Interval square(Interval a) { return mpfi_sqr(a.x_, a.x_), a; }
  friend Interval exp(Interval a) { return mpfi_exp(a.x_, a.x_), a; }
  friend Interval expm1(Interval a) { return mpfi_expm1(a.x_, a.x_), a; }
  friend Interval log(Interval a) { return mpfi_log(a.x_, a.x_), a; }
  friend Interval log1p(Interval a) { return mpfi_log1p(a.x_, a.x_), a; }

  /// The smaller of two numbers; invalid if one is.
  friend Interval min(Interval a, const Interval& b) {
    if (mpfi_nan_p(b.x_)) return b;
    if (mpfi_nan_p(a.x_)) return a;
    mpfr_min(&a.x_->left, &a.x_->left, &b.x_->left, MPFR_RNDD);
    mpfr_min(&a.x_->right, &a.x_->right, &b.x_->right, MPFR_RNDU);
    return a;
  }

  /// The smallest interval around both; invalid if one is.
  friend Interval hull(Interval a, const Interval& b) {
    if (mpfi_nan_p(b.x_)) return b;
    if (mpfi_nan_p(a.x_)) return a;
    return mpfi_union(a.x_, a.x_, b.x_), a;
  }

 private:
  static Interval end(mpfr_srcptr point) {
    Interval result;
    mpfi_set_fr(result.x_, point);
    return result;
  }

  mpfi_t x_;
};

}  // namespace phaselock_check
