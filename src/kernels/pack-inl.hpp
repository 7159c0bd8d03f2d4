// A pack of doubles, one SIMD vector, as a number type for the generic formulas. No include guard: included inside the namespace
// of each SIMD target (see attention-inl.hpp), after <hwy/highway.h>.

namespace hn = hwy::HWY_NAMESPACE;

struct Pack {
  using Tag = hn::ScalableTag<double>;
  using Vector = hn::Vec<Tag>;

  Vector v;

  Pack() = default;
  HWY_INLINE Pack(double x) : v(hn::Set(Tag(), x)) {}  // NOLINT(google-explicit-constructor): numbers mix with packs
  HWY_INLINE explicit Pack(Vector x) : v(x) {}

  static HWY_INLINE Pack load(const double* lanes) { return Pack(hn::LoadU(Tag(), lanes)); }
  HWY_INLINE void store(double* lanes) const { hn::StoreU(v, Tag(), lanes); }

  friend HWY_INLINE Pack operator+(Pack a, Pack b) { return Pack(hn::Add(a.v, b.v)); }
  friend HWY_INLINE Pack operator-(Pack a, Pack b) { return Pack(hn::Sub(a.v, b.v)); }
  friend HWY_INLINE Pack operator*(Pack a, Pack b) { return Pack(hn::Mul(a.v, b.v)); }
  friend HWY_INLINE Pack operator/(Pack a, Pack b) { return Pack(hn::Div(a.v, b.v)); }
  friend HWY_INLINE Pack operator-(Pack a) { return Pack(hn::Neg(a.v)); }
  HWY_INLINE Pack& operator+=(Pack a) { return *this = *this + a; }
  HWY_INLINE Pack& operator-=(Pack a) { return *this = *this - a; }
  HWY_INLINE Pack& operator*=(Pack a) { return *this = *this * a; }
  HWY_INLINE Pack& operator/=(Pack a) { return *this = *this / a; }
  /// NaN where b is NaN.
  friend HWY_INLINE Pack max(Pack a, Pack b) {
#if HWY_TARGET == HWY_SCALAR  // whose Max drops NaN
    return Pack(hn::IfThenElse(hn::Gt(a.v, b.v), a.v, b.v));
#else
    return Pack(hn::Max(a.v, b.v));
#endif
  }
  friend HWY_INLINE Pack min(Pack a, Pack b) { return -max(-a, -b); }
  /// a b + c, rounded once where the target can.
  friend HWY_INLINE Pack multiply_add(Pack a, Pack b, Pack c) { return Pack(hn::MulAdd(a.v, b.v, c.v)); }
};

/// exp of `Chains` packs for arguments up to 709, relative error below 1e-15 + 4e-17 |x| (5e-16 of it the polynomial's); less than
/// 1e-307 below -708.
/// e^x = 2^k e^r with |r| <= ln 2 / 2 and e^r = 1 + r p(r), p of degree 9 interpolating (e^r - 1) / r at Chebyshev nodes.
/// Several at a time, because a single chain of multiply-adds leaves the units idle.
template <int Chains>
HWY_INLINE void exponentials_of(Pack* x) {
  constexpr double p[] = {0x1.0000000000006p+0,  0x1.0000000000001p-1,  0x1.5555555550d88p-3,  0x1.5555555553d68p-5,
                          0x1.11111123bf154p-7,  0x1.6c16c17889ef1p-10, 0x1.a01994c849582p-13, 0x1.a019b9149a41cp-16,
                          0x1.72e107c874de9p-19, 0x1.28917c89a43a7p-22};
  constexpr double log2_e = 0x1.71547652b82fep+0, ln2 = 0x1.62e42fefa39efp-1;
  constexpr double ln2_high = 0x1.62e42fefa0000p-1, ln2_low = 0x1.cf79abc9e3b3ap-40;  // k ln2_high is exact
  constexpr double shifter = 0x1.8p+52;  // adding it rounds to an integer, held in the lowest bits
  const Pack::Tag tag;
  const hn::RebindToSigned<Pack::Tag> bits;
  Pack shifted[Chains], r[Chains], e[Chains];
  for (int k = 0; k < Chains; ++k) {
    const Pack clamped = max(Pack(-708.0), x[k]);
    shifted[k] = multiply_add(clamped, log2_e, shifter);
    const Pack power = shifted[k] - shifter;
    r[k] = HWY_NATIVE_FMA ? multiply_add(power, -ln2, clamped) : clamped - power * ln2_high - power * ln2_low;
    e[k] = p[9];
  }
  for (int degree = 8; degree >= 0; --degree)
    for (int k = 0; k < Chains; ++k) e[k] = multiply_add(e[k], r[k], p[degree]);
  for (int k = 0; k < Chains; ++k) {
    e[k] = multiply_add(e[k], r[k], 1.0);
    const auto exponent = hn::ShiftLeft<52>(hn::BitCast(bits, shifted[k].v));
    x[k] = Pack(hn::BitCast(tag, hn::Add(hn::BitCast(bits, e[k].v), exponent)));
  }
}

HWY_INLINE void exponentials(Pack* x, int count) {
  int k = 0;
  for (; k + 4 <= count; k += 4) exponentials_of<4>(x + k);
  if (count - k == 3) exponentials_of<3>(x + k);
  if (count - k == 2) exponentials_of<2>(x + k);
  if (count - k == 1) exponentials_of<1>(x + k);
}
