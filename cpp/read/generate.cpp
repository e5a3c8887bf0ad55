#include "read/generate.hpp"

#include <cmath>
#include <cstring>

#include "base/lanes.hpp"

#if defined(PARSIFAL_VECTORS) && defined(__AVX2__)
#include <immintrin.h>
#endif

namespace parsifal {
namespace {

constexpr std::size_t kWide = 16;  // counters side by side: part of the definition of the data
constexpr int kRounds = 7;
constexpr std::uint32_t kMultiply0 = 0xD2511F53, kMultiply1 = 0xCD9E8D57, kBump0 = 0x9E3779B9, kBump1 = 0xBB67AE85;

using Words = Lanes<std::uint32_t, kWide>;
using Ints = Lanes<std::int32_t, kWide>;
using Floats = Lanes<float, kWide>;

// Both halves of the 64-bit products x * m.
PARSIFAL_INLINE void multiply(const Words& x, std::uint32_t m, Words& high, Words& low) {
#if defined(PARSIFAL_VECTORS) && defined(__AVX512F__)
    const __m512i by = _mm512_set1_epi32(static_cast<int>(m)), from = reinterpret_cast<const __m512i&>(x);
    const __m512i even = _mm512_mul_epu32(from, by), odd = _mm512_mul_epu32(_mm512_srli_epi64(from, 32), by);
    reinterpret_cast<__m512i&>(low) = _mm512_mask_shuffle_epi32(even, 0xAAAA, odd, static_cast<_MM_PERM_ENUM>(0xA0));
    reinterpret_cast<__m512i&>(high) = _mm512_mask_shuffle_epi32(odd, 0x5555, even, static_cast<_MM_PERM_ENUM>(0xF5));
#elif defined(PARSIFAL_VECTORS) && defined(__AVX2__)
    const __m256i by = _mm256_set1_epi32(static_cast<int>(m));
    for (int half = 0; half < 2; ++half) {
        __m256i from;
        std::memcpy(&from, reinterpret_cast<const char*>(&x) + 32 * half, 32);
        const __m256i even = _mm256_mul_epu32(from, by), odd = _mm256_mul_epu32(_mm256_srli_epi64(from, 32), by);
        const __m256i l = _mm256_blend_epi32(even, _mm256_slli_epi64(odd, 32), 0xAA);
        const __m256i h = _mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xAA);
        std::memcpy(reinterpret_cast<char*>(&low) + 32 * half, &l, 32);
        std::memcpy(reinterpret_cast<char*>(&high) + 32 * half, &h, 32);
    }
#else
    for (std::size_t l = 0; l < kWide; ++l) {
        const std::uint64_t full = std::uint64_t{x[l]} * m;
        low[l] = static_cast<std::uint32_t>(full);
        high[l] = static_cast<std::uint32_t>(full >> 32);
    }
#endif
}

PARSIFAL_INLINE void mix(Words c[4], std::uint32_t key0, std::uint32_t key1) {
    for (int round = 0; round < kRounds; ++round) {
        Words high0, low0, high1, low1;
        multiply(c[0], kMultiply0, high0, low0);
        multiply(c[2], kMultiply1, high1, low1);
        c[0] = high1 ^ c[1] ^ key0;
        c[1] = low1;
        c[2] = high0 ^ c[3] ^ key1;
        c[3] = low0;
        key0 += kBump0;
        key1 += kBump1;
    }
}

#if defined(PARSIFAL_VECTORS) && defined(__AVX512F__)
PARSIFAL_INLINE Floats root(const Floats& x) { return bits<Floats>(_mm512_sqrt_ps(bits<__m512>(x))); }
#else
PARSIFAL_INLINE Floats root(const Floats& x) {
    Floats out;
    for (std::size_t l = 0; l < kWide; ++l) out[l] = std::sqrt(x[l]);
    return out;
}
#endif

// sqrt(-2 log u) with u = (w/2 + 1/2) / 2^31 in [2^-32, 1].
PARSIFAL_INLINE Floats radius(const Words& w) {
    const Floats u = converted<Floats>(bits<Ints>(w >> 1)) * 0x1p-31f + 0x1p-32f;
    // u = 2^e (1 + f) with 1 + f between sqrt(1/2) and sqrt(2).
    const Ints raw = bits<Ints>(u);
    const Ints exponent = (raw - 0x3F3504F3) >> 23;
    const Floats f = bits<Floats>(raw - (exponent << 23)) - 1.0f;
    Floats q = f * 7.0376836292e-2f - 1.1514610310e-1f;
    q = q * f + 1.1676998740e-1f;
    q = q * f - 1.2420140846e-1f;
    q = q * f + 1.4249322787e-1f;
    q = q * f - 1.6668057665e-1f;
    q = q * f + 2.0000714765e-1f;
    q = q * f - 2.4999993993e-1f;
    q = q * f + 3.3333331174e-1f;
    const Floats square = f * f;
    const Floats log = (q * f - 0.5f) * square + f + converted<Floats>(exponent) * 0.693147180559945f;
    // Rounding may leave the logarithm of nearly 1 a little above 0.
    const Floats value = -2.0f * log;
    return root(bits<Floats>(bits<Ints>(value) & ~(bits<Ints>(value) >> 31)));
}

// A uniform angle: 29 bits within an eighth of the circle, one to swap, two for the signs.
PARSIFAL_INLINE void direction(const Words& w, Floats& x, Floats& y) {
    const Floats angle = converted<Floats>(bits<Ints>(w & 0x1FFFFFFFu)) * 1.462918079e-9f;
    const Floats square = angle * angle;
    Floats sine = square * -1.9515295891e-4f + 8.3321608736e-3f;
    sine = sine * square - 1.6666654611e-1f;
    sine = (sine * square) * angle + angle;
    Floats cosine = square * 2.443315711809948e-5f - 1.388731625493765e-3f;
    cosine = cosine * square + 4.166664568298827e-2f;
    cosine = (cosine * square - 0.5f) * square + 1.0f;
    const Ints swap = bits<Ints>(w << 2) >> 31;
    const Ints s = bits<Ints>(sine), c = bits<Ints>(cosine), change = (s ^ c) & swap;
    x = bits<Floats>((c ^ change) ^ bits<Ints>(w & 0x80000000u));
    y = bits<Floats>((s ^ change) ^ bits<Ints>((w << 1) & 0x80000000u));
}

template <bool correlated>
PARSIFAL_INLINE void column(std::uint64_t seed, std::uint64_t group, std::size_t count, std::uint64_t j,
                            const float* before, float rho, float innovation, float* out) {
    const auto key0 = static_cast<std::uint32_t>(seed), key1 = static_cast<std::uint32_t>(seed >> 32);
    Words lane;
    for (std::size_t l = 0; l < kWide; ++l) lane[l] = static_cast<std::uint32_t>(l);
    for (std::size_t g = 0; g < count; ++g) {
        const std::uint64_t first = (group + g) * kWide;
        Words c[4] = {lane + static_cast<std::uint32_t>(first), Words{} + static_cast<std::uint32_t>(first >> 32),
                      Words{} + static_cast<std::uint32_t>(j), Words{} + static_cast<std::uint32_t>(j >> 32)};
        mix(c, key0, key1);
        for (int pair = 0; pair < 2; ++pair) {
            const Floats r = radius(c[2 * pair]);
            Floats z[2];
            direction(c[2 * pair + 1], z[0], z[1]);
            for (int half = 0; half < 2; ++half) {
                const std::size_t at = g * kGroupRows + static_cast<std::size_t>(2 * pair + half) * kWide;
                Floats x = r * z[half];
                if constexpr (correlated) {
                    Floats previous;
                    std::memcpy(static_cast<void*>(&previous), before + at, sizeof previous);
                    x = rho * previous + innovation * x;
                }
                std::memcpy(out + at, &x, sizeof x);
            }
        }
    }
}

}  // namespace

void generate_column(std::uint64_t seed, std::uint64_t group, std::size_t count, std::uint64_t j, const float* before,
                     float rho, float innovation, float* out) {
    if (before) {
        column<true>(seed, group, count, j, before, rho, innovation, out);
    } else {
        column<false>(seed, group, count, j, before, rho, innovation, out);
    }
}

void philox(const std::uint32_t counter[4], const std::uint32_t key[2], std::uint32_t out[4]) {
    Words c[4];
    for (int word = 0; word < 4; ++word) c[word] = Words{} + counter[word];
    mix(c, key[0], key[1]);
    for (int word = 0; word < 4; ++word) out[word] = c[word][0];
}

}  // namespace parsifal
