// The inner loops of the dense scan, for entries with unit stride stored as double or float.
//
// The sums are kept in explicit vector accumulators: without -ffast-math a compiler may not reorder a plain
// sum, and a sum that is not reordered runs at a quarter of the memory's speed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "base/lanes.hpp"

namespace parsifal::kernel {

#if defined(__AVX512F__)
constexpr std::size_t kLanes = 8;
#elif defined(__AVX__)
constexpr std::size_t kLanes = 4;
#else
constexpr std::size_t kLanes = 2;
#endif

// How far ahead to fetch, found by trial: the hardware fetches ahead too, but starts anew at every page.
constexpr std::size_t kAheadInColumn = 1024;
constexpr std::size_t kAheadInRow = 512;

using Vec = Lanes<double, kLanes>;
using VecF = Lanes<float, kLanes>;

PARSIFAL_INLINE Vec load(const double* x) {
    Vec out;
    std::memcpy(static_cast<void*>(&out), x, sizeof out);
    return out;
}

PARSIFAL_INLINE Vec load(const float* x) {
    VecF out;
    std::memcpy(static_cast<void*>(&out), x, sizeof out);
    return converted<Vec>(out);
}

PARSIFAL_INLINE void store(double* to, const Vec& value) { std::memcpy(to, &value, sizeof value); }

PARSIFAL_INLINE double total(const Vec& value) {
    double sum = 0.0;
    for (std::size_t l = 0; l < kLanes; ++l) sum += value[l];
    return sum;
}

// What a pass computes: X'v alone, also sums and squares, or these with row weights.
enum class Mode { product, stats, weighted };

// Row vectors of a block, all starting at the block's first row; a and b are read in Mode::weighted only.
struct RowVectors {
    const double* v;
    const double* a;
    const double* b;
};

// Sums of one column (or of one lane of columns).
template <class V>
struct Sums {
    V xv{}, sums{}, squares{};

    template <Mode mode>
    PARSIFAL_INLINE void add(const V& d, const V& v, const V& a, const V& b) {
        xv += v * d;
        if constexpr (mode == Mode::stats) {
            sums += d;
            squares += d * d;
        } else if constexpr (mode == Mode::weighted) {
            sums += a * d;
            squares += b * d * d;
        }
    }
};

// NC columns at once, x[c][0 .. rows): several streams keep more of the memory's queue busy and share the
// loads of v.
template <Mode mode, std::size_t NC, class T>
PARSIFAL_INLINE void columns(const T* const* x, std::size_t rows, const RowVectors& row, const double* shift,
                             Sums<double>* out) {
    Sums<Vec> sums[NC];
    Vec center[NC];
    for (std::size_t c = 0; c < NC; ++c) center[c] = Vec{} + shift[c];
    const std::size_t ahead = rows - std::min(rows, kAheadInColumn / sizeof(T));
    std::size_t i = 0;
    for (; i + kLanes <= rows; i += kLanes) {
        const Vec v = load(row.v + i);
        const Vec a = mode == Mode::weighted ? load(row.a + i) : Vec{};
        const Vec b = mode == Mode::weighted ? load(row.b + i) : Vec{};
        for (std::size_t c = 0; c < NC; ++c) {
            if (i < ahead) prefetch(x[c] + i, kAheadInColumn);
            sums[c].template add<mode>(load(x[c] + i) - center[c], v, a, b);
        }
    }
    for (std::size_t c = 0; c < NC; ++c) {
        Sums<double> column{total(sums[c].xv), total(sums[c].sums), total(sums[c].squares)};
        for (std::size_t t = i; t < rows; ++t) {
            const double a = mode == Mode::weighted ? row.a[t] : 0.0;
            const double b = mode == Mode::weighted ? row.b[t] : 0.0;
            column.template add<mode>(static_cast<double>(x[c][t]) - shift[c], row.v[t], a, b);
        }
        out[c] = column;
    }
}

// NR rows of a row-major panel, x[r * stride + j] for j in [0, width), added to the panel's accumulators.
// Each accumulator is loaded and stored once for NR rows.
template <Mode mode, std::size_t NR, class T>
PARSIFAL_INLINE void rows(const T* x, std::ptrdiff_t stride, std::size_t width, const RowVectors& row,
                          const double* shift, double* xv, double* sums, double* squares) {
    // As many vectors at a time as fill a cache line, which is fetched once.
    constexpr std::size_t NV = std::max<std::size_t>(1, 64 / (kLanes * sizeof(T)));
    std::size_t j = 0;
    for (; j + NV * kLanes <= width; j += NV * kLanes) {
        Sums<Vec> acc[NV];
        for (std::size_t r = 0; r < NR; ++r) {
            const Vec v = Vec{} + row.v[r];
            const Vec a = mode == Mode::weighted ? Vec{} + row.a[r] : Vec{};
            const Vec b = mode == Mode::weighted ? Vec{} + row.b[r] : Vec{};
            const T* entry = x + static_cast<std::ptrdiff_t>(r) * stride + j;
            prefetch(entry, kAheadInRow);
            for (std::size_t k = 0; k < NV; ++k) {
                const std::size_t lane = k * kLanes;
                acc[k].template add<mode>(load(entry + lane) - load(shift + j + lane), v, a, b);
            }
        }
        for (std::size_t k = 0; k < NV; ++k) {
            const std::size_t at = j + k * kLanes;
            store(xv + at, load(xv + at) + acc[k].xv);
            if constexpr (mode != Mode::product) {
                store(sums + at, load(sums + at) + acc[k].sums);
                store(squares + at, load(squares + at) + acc[k].squares);
            }
        }
    }
    for (; j < width; ++j) {
        Sums<double> acc;
        for (std::size_t r = 0; r < NR; ++r) {
            const double a = mode == Mode::weighted ? row.a[r] : 0.0;
            const double b = mode == Mode::weighted ? row.b[r] : 0.0;
            const double d = static_cast<double>(x[static_cast<std::ptrdiff_t>(r) * stride + j]) - shift[j];
            acc.add<mode>(d, row.v[r], a, b);
        }
        xv[j] += acc.xv;
        if constexpr (mode != Mode::product) {
            sums[j] += acc.sums;
            squares[j] += acc.squares;
        }
    }
}

}  // namespace parsifal::kernel
