#include "bound/precise.hpp"

#include <algorithm>
#include <vector>

namespace parsifal {

namespace {

struct Halves {
    double upper, lower;
};

// The upper 26 bits of a number, and the rest (Veltkamp's splitting).
inline Halves halves(double x) {
    const double big = (0x1p27 + 1.0) * x, upper = big - (big - x);
    return {upper, x - upper};
}

// What rounding has taken from the product of two numbers (Dekker).
inline double lost(const Halves& a, const Halves& b, double product) {
    return a.lower * b.lower - (((product - a.upper * b.upper) - a.lower * b.upper) - a.upper * b.lower);
}

}  // namespace

void precise_residual(const double* y, const double* columns, const double* w, std::ptrdiff_t n, std::ptrdiff_t k,
                      double* out) {
    std::vector<double> low(static_cast<std::size_t>(n), 0.0);
    std::copy_n(y, n, out);
    for (std::ptrdiff_t j = 0; j < k; ++j) {
        const double factor = -w[j];
        const Halves parts = halves(factor);
        const double* column = columns + j * n;
        for (std::ptrdiff_t i = 0; i < n; ++i) {
            const double product = column[i] * factor, high = out[i], moved = high + product, part = moved - high;
            low[static_cast<std::size_t>(i)] +=
                ((high - (moved - part)) + (product - part)) + lost(halves(column[i]), parts, product);
            out[i] = moved;
        }
    }
    for (std::ptrdiff_t i = 0; i < n; ++i) out[i] += low[static_cast<std::size_t>(i)];
}

}  // namespace parsifal
