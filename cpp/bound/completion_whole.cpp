// Completions: all columns of a level at once.
//
// No set fits better than all columns together (Furnival and Wilson, 1974). Where the columns are few and near each
// other, bounds on sets of few columns say nothing, and this one closes most of what is left. docs/numerics.md has the
// allowance for rounding.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "bound/completions.hpp"

namespace parsifal {

namespace {

constexpr Index most_whole = 80;  // columns of a problem: with more, all of them fit too well

}  // namespace

// The columns in and those at the last positions of an order, one more at a time: least[f] is not above 2 c of any set
// of the columns in and those from position f of the order on, prices left out; -inf from where on that is not known.
// `loss`, if all are known: by how much 2 c of all columns grows without each.
void Completions::whole(const Level& at, const std::vector<Index>& order, std::vector<double>& least,
                        std::vector<double>* loss) {
    const Index m = at.size;
    const auto n = static_cast<size_t>(m);
    least.assign(n + 1, -INFINITY);
    std::vector<double> factor(n * n), inverse(n * n), z(n), w(n, 0.0);
    const double length = std::sqrt(table_.y_square());
    double taken = 0, inverse_square = 0;
    Index known = 0;
    for (size_t t = 0; t < n; ++t) {
        const auto j = static_cast<size_t>(order[n - 1 - t]);
        double *row = factor.data() + t * n, *fresh = inverse.data() + t * n;
        double square = at.z2[j], beta = at.beta[j];
        for (size_t l = 0; l < t; ++l) {
            const double* other = factor.data() + l * n;
            double value = products_[j * n + static_cast<size_t>(order[n - 1 - l])];
            for (size_t q = 0; q < l; ++q) value -= row[q] * other[q];
            row[l] = value / other[l];
            square -= row[l] * row[l];
            beta -= row[l] * z[l];
        }
        if (!(square > nearly_dependent)) break;
        const double pivot = row[t] = std::sqrt(square);
        z[t] = beta / pivot;
        for (size_t l = 0; l < t; ++l)
            for (size_t i = 0; i <= l; ++i) fresh[i] -= row[l] * inverse[l * n + i];
        for (size_t i = 0; i < t; ++i) fresh[i] /= pivot;
        fresh[t] = 1 / pivot;
        taken += z[t] * z[t];
        double w_size = 0;
        for (size_t i = 0; i <= t; ++i) {
            inverse_square += fresh[i] * fresh[i];
            w[i] += fresh[i] * z[t];
            w_size += std::abs(w[i]);
        }
        const double more = static_cast<double>(t + 1), all = static_cast<double>(at.rank) + more;
        const double unit = table_.unit() + 2.02 * (all + 16) * unit_roundoff;
        if (!((1 + more * at.inverse_square) * (1 + inverse_square) * 4 * all * unit <= 1)) break;
        const double size = length + at.w_size + at.stretch * w_size;
        least[n - 1 - t] = at.rr - taken - 4 * unit * size * size - 32 * (all + 16) * unit_roundoff * table_.y_square();
        ++known;
    }
    spend(static_cast<double>(m * m * m) / 2);
    if (!loss || known < m) return;
    loss->assign(n, 0.0);
    for (size_t i = 0; i < n; ++i) {
        double diagonal = 0;
        for (size_t t = i; t < n; ++t) diagonal += inverse[t * n + i] * inverse[t * n + i];
        (*loss)[static_cast<size_t>(order[n - 1 - i])] = w[i] * w[i] / diagonal;
    }
}

// least[f] for the columns of a level from f on, which it puts into another order: those that the others do without at
// the greatest loss come first.
void Completions::whole_bounds(Level& at) {
    at.least.clear();
    if (table_.size() > most_whole || at.size < 3) return;
    const auto n = static_cast<size_t>(at.size);
    products_.resize(n * n);
    for (size_t i = 0; i < n; ++i) {
        correlations(at, static_cast<Index>(i), 0, at.size, row_.data());
        std::copy(row_.begin(), row_.begin() + at.size, products_.begin() + static_cast<std::ptrdiff_t>(i * n));
    }
    spend(static_cast<double>(at.size * at.size * (at.rank + 3)));
    std::vector<Index> order(n);
    std::iota(order.begin(), order.end(), Index{0});
    std::vector<double> loss;
    whole(at, order, at.least, &loss);
    if (loss.empty() || at.least[0] + 2 * least_price() >= 2 * cutoff_) return;
    std::stable_sort(order.begin(), order.end(),
                     [&](Index a, Index b) { return loss[static_cast<size_t>(a)] > loss[static_cast<size_t>(b)]; });
    whole(at, order, at.least, nullptr);
    rearrange(at, order);
}

// Puts the columns of a level, with their coordinates, into this order.
void Completions::rearrange(Level& at, const std::vector<Index>& order) {
    const auto n = static_cast<size_t>(at.size);
    std::vector<double> moved(n);
    for (auto* values : {&at.z2, &at.beta, &at.gain, &at.worth}) {
        for (size_t a = 0; a < n; ++a) moved[a] = (*values)[static_cast<size_t>(order[a])];
        std::copy(moved.begin(), moved.end(), values->begin());
    }
    for (Index l = 0; l < at.rank; ++l) {
        for (size_t a = 0; a < n; ++a) moved[a] = at.row(l)[order[a]];
        std::copy(moved.begin(), moved.end(), at.row(l));
    }
    std::vector<Index> places(n);
    for (auto* values : {&at.column, &at.origin}) {
        for (size_t a = 0; a < n; ++a) places[a] = (*values)[static_cast<size_t>(order[a])];
        std::copy(places.begin(), places.end(), values->begin());
    }
}

}  // namespace parsifal
