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

// Of a sum over so many rows, and what is made of it, relative to the sum of absolute values.
double rounding_of(std::ptrdiff_t rows) { return 1.2e-16 * static_cast<double>(rows + 16); }

}  // namespace

CoarseColumns::CoarseColumns(Position rows, Position columns)
    : rows_(rows), entries_(static_cast<std::size_t>(rows * columns)), columns_(static_cast<std::size_t>(columns)) {
    for (Position j = 0; j < columns; ++j) columns_[static_cast<std::size_t>(j)].slot = j;
}

CoarseColumns::CoarseColumns(Position rows, std::span<const signed char> copied, std::span<const double> reference)
    : rows_(rows), reference_(reference.begin(), reference.end()), columns_(copied.size()) {
    Position slots = 0;
    for (std::size_t j = 0; j < copied.size(); ++j) columns_[j].slot = copied[j] ? slots++ : -1;
    entries_.resize(static_cast<std::size_t>(rows * slots));
}

void CoarseColumns::set(Position j, const double* x) {
    Column& column = columns_[static_cast<std::size_t>(j)];
    if (column.slot >= 0) {
        coarsen(x, rows_, largest_entry, entries_.data() + column.slot * rows_, column.step, column.rest, column.norm);
        return;
    }
    double product = 0, square = 0, reach = 0, largest = 0;
    for (Position i = 0; i < rows_; ++i) {
        const double u = reference_[static_cast<std::size_t>(i)];
        product += x[i] * u;
        square += x[i] * x[i];
        reach += u * u;
        largest = std::max(largest, std::abs(x[i]));
    }
    const double unit = rounding_of(rows_);
    column.norm = std::sqrt(square) * (1 + unit);
    column.step = std::abs(product);
    // Squares that underflow say nothing.
    if (!(square > 1e-280)) column.norm = largest * std::sqrt(static_cast<double>(rows_)) * (1 + unit);
    column.rest = unit * column.norm * std::sqrt(reach) * (1 + unit) + 5e-324 * static_cast<double>(rows_);
}

// |v - u|, rounded up.
double CoarseColumns::distance(const double* v) const {
    double square = 0, sizes = 0;
    for (Position i = 0; i < rows_; ++i) {
        const double u = reference_[static_cast<std::size_t>(i)];
        square += (v[i] - u) * (v[i] - u);
        sizes += std::abs(v[i]) + std::abs(u);
    }
    return std::sqrt(square) * (1 + rounding_of(rows_)) + 2.3e-16 * sizes;
}

void CoarseColumns::look(std::span<const Position> which, const double* v, Look* out) const {
    std::vector<std::int16_t> factor(static_cast<std::size_t>(rows_));
    double step = 0, rest = 0, norm = 0;
    coarsen(v, rows_, largest_factor, factor.data(), step, rest, norm);
    const double size = (norm + rest) * (1 + 1e-12), away = reference_.empty() ? 0.0 : distance(v);
    for (std::size_t i = 0; i < which.size(); ++i) {
        const Column& column = columns_[static_cast<std::size_t>(which[i])];
        if (column.slot < 0) {
            out[i] = {column.step, (column.norm * away + column.rest) * (1 + 1e-12)};
            continue;
        }
        const auto sum = static_cast<double>(dot(entries_.data() + column.slot * rows_, factor.data(), rows_));
        // x'v = (step q)'(step factor) + rest_x'v + (step q)'rest_v; the last part is for the rounding of these lines.
        out[i] = {column.step * step * std::abs(sum),
                  (column.rest * size + column.norm * (rest + 1e-15 * norm)) * (1 + 1e-12)};
    }
}

}  // namespace parsifal
