// Numbers side by side, for loops that must compute on vectors whatever a compiler makes of them: the arithmetic of
// Lanes is that of its entries. GCC and clang have such types. For other compilers, and with PARSIFAL_PLAIN for these
// two as well, Lanes is an array, and the results are the same as long as no product is fused with a sum.
#pragma once

#include <cstddef>
#include <cstring>

#if (defined(__GNUC__) || defined(__clang__)) && !defined(PARSIFAL_PLAIN)
#define PARSIFAL_VECTORS 1
#define PARSIFAL_INLINE inline __attribute__((always_inline))
#elif defined(_MSC_VER)
#define PARSIFAL_INLINE __forceinline
#else
#define PARSIFAL_INLINE inline
#endif

#if defined(_MSC_VER) && (defined(_M_X64) || defined(_M_IX86))
#include <xmmintrin.h>
#endif

namespace parsifal {

#ifdef PARSIFAL_VECTORS

template <class T, std::size_t N>
struct VectorOf {
    typedef T type __attribute__((vector_size(N * sizeof(T))));
};
template <class T, std::size_t N>
using Lanes = typename VectorOf<T, N>::type;

template <class To, class From>
PARSIFAL_INLINE To converted(const From& from) {
    return __builtin_convertvector(from, To);
}

#else

template <class T, std::size_t N>
struct Lanes {
    static constexpr std::size_t size = N;

    Lanes() = default;
    Lanes(T value) {
        for (T& entry : entries) entry = value;
    }

    T& operator[](std::size_t l) { return entries[l]; }
    const T& operator[](std::size_t l) const { return entries[l]; }

    template <class F>
    static PARSIFAL_INLINE Lanes each(const F& entry) {
        Lanes out;
        for (std::size_t l = 0; l < N; ++l) out.entries[l] = static_cast<T>(entry(l));
        return out;
    }

    friend Lanes operator+(const Lanes& a, const Lanes& b) {
        return each([&](std::size_t l) { return a[l] + b[l]; });
    }
    friend Lanes operator-(const Lanes& a, const Lanes& b) {
        return each([&](std::size_t l) { return a[l] - b[l]; });
    }
    friend Lanes operator*(const Lanes& a, const Lanes& b) {
        return each([&](std::size_t l) { return a[l] * b[l]; });
    }
    friend Lanes operator^(const Lanes& a, const Lanes& b) {
        return each([&](std::size_t l) { return a[l] ^ b[l]; });
    }
    friend Lanes operator&(const Lanes& a, const Lanes& b) {
        return each([&](std::size_t l) { return a[l] & b[l]; });
    }
    friend Lanes operator<<(const Lanes& a, int bits) {
        return each([&](std::size_t l) { return a[l] << bits; });
    }
    friend Lanes operator>>(const Lanes& a, int bits) {
        return each([&](std::size_t l) { return a[l] >> bits; });
    }
    friend Lanes operator~(const Lanes& a) {
        return each([&](std::size_t l) { return ~a[l]; });
    }
    Lanes& operator+=(const Lanes& other) { return *this = *this + other; }

  private:
    T entries[N];
};

template <class To, class From>
PARSIFAL_INLINE To converted(const From& from) {
    return To::each([&](std::size_t l) { return from[l]; });
}

#endif

// The same bits as another type.
template <class To, class From>
PARSIFAL_INLINE To bits(const From& from) {
    static_assert(sizeof(To) == sizeof(From));
    To out;
    std::memcpy(static_cast<void*>(&out), &from, sizeof out);
    return out;
}

// Have the cache fetch what lies `ahead` bytes behind x. A hint past the end of the data is harmless.
PARSIFAL_INLINE void prefetch(const void* x, std::size_t ahead) {
    const char* at = static_cast<const char*>(x) + ahead;
#ifdef PARSIFAL_VECTORS
    __builtin_prefetch(at);
#elif defined(_MSC_VER) && (defined(_M_X64) || defined(_M_IX86))
    _mm_prefetch(at, _MM_HINT_T0);
#else
    static_cast<void>(at);
#endif
}

}  // namespace parsifal
