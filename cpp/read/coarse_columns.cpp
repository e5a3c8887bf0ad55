#include "read/coarse_columns.hpp"

#include <algorithm>
#include <cmath>

namespace parsifal {

namespace {

constexpr double largest_entry = 127, largest_factor = 32767;
// So many products of the largest ones fit into 32 bits.
constexpr std::ptrdiff_t rows_at_once = 512;

// Whole numbers, so the sum is exact and a compiler may take it in any order.
std::int64_t dot(const std::int8_t* q, const std::int16_t* v, std::ptrdiff_t rows) {
    std::int64_t total = 0;
    for (std::ptrdiff_t start = 0; start < rows; start += rows_at_once) {
        const std::ptrdiff_t stop = std::min(rows, start + rows_at_once);
        std::int32_t sum = 0;
        for (std::ptrdiff_t i = start; i < stop; ++i) sum += static_cast<std::int16_t>(q[i]) * v[i];
        total += sum;
    }
    return total;
}

// x = step q + rest with whole numbers q up to `most`: the step, and the sizes of the rest and of step q, rounded up.
template <class Whole>
void coarsen(const double* x, std::ptrdiff_t size, double most, Whole* q, double& step, double& rest, double& norm) {
    double largest = 0;
    for (std::ptrdiff_t i = 0; i < size; ++i) largest = std::max(largest, std::abs(x[i]));
    step = largest / most;
    // Of tiny entries nothing is seen; the rest is then all of x.
    const bool visible = step > 1e-290 && std::isfinite(step);
    if (!visible) step = 0;
    double rest_square = 0, square = 0;
    for (std::ptrdiff_t i = 0; i < size; ++i) {
        const double whole = visible ? std::clamp(std::round(x[i] / step), -most, most) : 0.0;
        q[i] = static_cast<Whole>(whole);
        // In units of the largest entry, so that squares are numbers.
        const double left = visible ? (x[i] - step * whole) / step : 0.0;
        rest_square += left * left;
        square += whole * whole;
    }
    const double blur = 1 + 1e-15 * static_cast<double>(size + 8);
    norm = step * std::sqrt(square) * blur;
    // A difference rounds by less than a unit of the entry.
    rest = visible ? step * std::sqrt(rest_square) * blur + 4e-16 * norm
                   : largest * std::sqrt(static_cast<double>(size)) * blur;
}

}  // namespace

CoarseColumns::CoarseColumns(Position rows, Position columns)
    : rows_(rows), entries_(static_cast<std::size_t>(rows * columns)), columns_(static_cast<std::size_t>(columns)) {}

void CoarseColumns::set(Position j, const double* x) {
    Column& column = columns_[static_cast<std::size_t>(j)];
    coarsen(x, rows_, largest_entry, entries_.data() + j * rows_, column.step, column.rest, column.norm);
}

void CoarseColumns::look(std::span<const Position> which, const double* v, Look* out) const {
    std::vector<std::int16_t> factor(static_cast<std::size_t>(rows_));
    double step = 0, rest = 0, norm = 0;
    coarsen(v, rows_, largest_factor, factor.data(), step, rest, norm);
    const double size = (norm + rest) * (1 + 1e-12);
    for (std::size_t i = 0; i < which.size(); ++i) {
        const Column& column = columns_[static_cast<std::size_t>(which[i])];
        const auto sum = static_cast<double>(dot(entries_.data() + which[i] * rows_, factor.data(), rows_));
        // x'v = (step q)'(step factor) + rest_x'v + (step q)'rest_v; the last part is for the rounding of these lines.
        out[i] = {column.step * step * std::abs(sum),
                  (column.rest * size + column.norm * (rest + 1e-15 * norm)) * (1 + 1e-12)};
    }
}

}  // namespace parsifal
