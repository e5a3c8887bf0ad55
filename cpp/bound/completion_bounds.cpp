// Completions: what rounding can be worth, and bounds on sets of columns.
#include <algorithm>
#include <cmath>

#include "bound/completions.hpp"
#include "bound/largest.hpp"

namespace parsifal {

namespace {

constexpr Index most_exact_rows = 24;

}  // namespace

// What rounding can be worth: 2 c of a set is off by at most 4 unit (|y| + w_size)^2, and 4 unit stretch^2 |T| |r|^2 /
// (|z_j|^2 d_j) for each of its columns (docs/numerics.md). The second part lengthens the gains, the first shortens the
// threshold.
double Completions::lengthening(const Level& at, Index room) const {
    return 4 * table_.unit() * at.stretch * at.stretch * static_cast<double>(room) * at.rr;
}

// A set of columns that takes more than this off |r|^2, its price paid, may be below the cutoff; no other.
double Completions::threshold(const Level& at) const {
    const double size = std::sqrt(table_.y_square()) + at.w_size;
    return at.rr + 2 * price_in() - 2 * cutoff_ - 4 * table_.unit() * size * size - roundoff_;
}

// From which |z_j|^2 d_j on inner products tell columns from dependent ones.
double Completions::least_resolved(const Level& at, Index room) const {
    const double rest = 1 / ((1 + at.inverse_square) * 4 * set_size_ * table_.unit()) - 1;
    return rest > 0 ? static_cast<double>(std::max<Index>(room, 1)) / rest : INFINITY;
}

bool Completions::resolved(const Level& at, double z2d, Index room) const {
    return z2d > 0 && z2d >= least_resolved(at, room);
}

// With a price, only so many columns can pay it: the objective is not below the price of the columns.
Index Completions::affordable(Index room) const {
    if (!(cheapest_ > 0)) return room;
    const double most = table_.rules() ? (cutoff_ - least_price()) / cheapest_ * (1 + 4 * unit_roundoff)
                                       : cutoff_ / cheapest_ - static_cast<double>(in_.size());
    return most < static_cast<double>(room) ? static_cast<Index>(std::max(0.0, std::floor(most) + 1)) : room;
}

double Completions::value_of(const Level& at, double taken, std::initializer_list<Index> more) const {
    std::vector<Index> support = in_;
    support.insert(support.end(), more.begin(), more.end());
    return 0.5 * (at.rr - taken) + table_.price_of(support);
}

// What the columns that are in cost whatever they fit: the sum may have been rounded up.
double Completions::least_price() const {
    const double terms = table_.rules() ? static_cast<double>(in_.size()) : 0.0;
    return price_in() * (1 - (2 + terms) * unit_roundoff);
}

// Twice the least price of a column of the level.
double Completions::least_paid(const Level& at) const {
    if (alike_) return paid_;
    double least = INFINITY;
    for (Index j = 0; j < at.size; ++j) least = std::min(least, paid(at, static_cast<size_t>(j)));
    return least;
}

// Whether a set is allowed. Its value and what is charged for rounding become those with the signs of all its columns,
// where inner products tell.
bool Completions::judge(double& value, double& charge, std::initializer_list<Index> more) const {
    const ColumnRules& rules = *table_.rules();
    std::vector<Index> set = in_;
    set.insert(set.end(), more.begin(), more.end());
    if (!rules.rows.allow(set)) return false;
    if (!rules.any_sign) return true;
    const SignedFit fit = table_.signed_fit(set);
    const double price = table_.price_of(set), slack = fit.charge + 0.5 * roundoff_;
    if (!fit.known || fit.value + price - slack < value - charge) return true;
    value = fit.value + price;
    charge = slack;
    return true;
}

// Whether two columns take no more than `most`, their prices in it, because the best coefficients without signs have a
// wrong one: then one of the two is zero at the best with signs.
bool Completions::pair_signs(const Level& at, size_t i, size_t j, double g, double most) const {
    const ColumnRules& rules = *table_.rules();
    if (!rules.any_sign || std::max(at.gain[i], at.gain[j]) > most) return false;
    auto wrong = [&](size_t a, size_t b) {
        const double one = at.beta[a] * at.z2[b], other = g * at.beta[b];
        return rules.sign[static_cast<size_t>(at.column[a])] * (one - other) <
               -1e-12 * (std::abs(one) + std::abs(other));
    };
    return wrong(i, j) || wrong(j, i);
}

// Whether a column of which only |z_j|^2 = z2 is left counts. It does not where it depends on those that are in; and
// where inner products do not tell, nothing is known about the sets with it.
bool Completions::counts(const Level& at, double z2, double z2d, Index room, Index j) {
    if (z2 > nearly_dependent && resolved(at, z2d, room)) return true;
    if (!table_.has_ridge() && z2 <= nearly_dependent && data_.dependent(in_, j)) return false;
    if (resolved(at, z2d, room)) return true;
    lowest_ = std::min(lowest_, least_price());
    unresolved_ = true;
    return false;
}

// worth_j for the columns from `first` on, their row sums bounded through those over all columns of the problem, less
// the neighbours at this level: |z_i'z_j| <= |x_i'x_j| + |L_i| |L_j|, and |z_j|^2 less the row sum is |z_j|^2 d_j.
void Completions::row_bounds(Level& at, Index first, Index room, Index level) {
    const Index others = room - 1;
    const double pad = static_cast<double>(others) * 8 * set_size_ * unit_roundoff;
    const double resolution = least_resolved(at, room);
    const bool table = others < CorrelationTable::most_room;
    rest_.resize(static_cast<size_t>(at.size));
    for (Index j = first; j < at.size; ++j)
        rest_[static_cast<size_t>(j)] = std::sqrt(std::max(0.0, 1 - at.z2[static_cast<size_t>(j)]));
    Largest lengths(top_, others);
    for (Index j = first; j < at.size; ++j) lengths.add(rest_[static_cast<size_t>(j)]);
    const double length = lengths.sum() * (1 + 1e-14);
    for (Index j = first; j < at.size; ++j) {
        const auto a = static_cast<size_t>(j);
        const double sum = table ? table_.largest(level, at.column[a], others) + rest_[a] * length + pad : 1;
        const double z2d = at.z2[a] - sum * (1 + 1e-14);
        at.worth[a] =
            z2d > 0 && z2d >= resolution ? at.gain[a] * (at.z2[a] / z2d) * (1 + 1e-14) - paid(at, a) : INFINITY;
    }
    spend(4.0 * static_cast<double>(at.size - first));
}

// Whether no set of up to `room` of the columns from `first` on goes below the cutoff. Thorough: with the exact rows of
// the columns that decide; worth_j is theirs afterwards.
bool Completions::bounded(Level& at, Index first, Index room, bool thorough) {
    const double most = threshold(at);
    Largest unhindered(top_, room);
    for (Index j = first; j < at.size; ++j)
        unhindered.add(at.gain[static_cast<size_t>(j)] - paid(at, static_cast<size_t>(j)));
    const bool hopeless = unhindered.sum() > most;
    row_bounds(at, first, room);
    if (hopeless) return false;
    std::vector<char> exact;
    for (Index rows = 0;; ++rows) {
        Largest taken(top_, room);
        Index decisive = -1;
        double largest = 0;
        for (Index j = first; j < at.size; ++j) {
            const auto a = static_cast<size_t>(j);
            taken.add(at.worth[a]);
            if (at.worth[a] > largest && (exact.empty() || !exact[a])) {
                largest = at.worth[a];
                decisive = j;
            }
        }
        if (taken.sum() <= most) return true;
        // Only a column among those taken decides.
        if (!thorough || decisive < 0 || largest < taken.least() || rows >= most_exact_rows) return false;
        if (exact.empty()) exact.assign(static_cast<size_t>(at.size), 0);
        exact[static_cast<size_t>(decisive)] = 1;
        correlations(at, decisive, first, at.size, row_.data());
        const auto a = static_cast<size_t>(decisive);
        std::vector<double> store;
        Largest near(store, room - 1);
        const double pad = 8 * set_size_ * unit_roundoff;
        for (Index j = first; j < at.size; ++j)
            if (j != decisive) {
                const auto b = static_cast<size_t>(j);
                near.add(std::abs(row_[b]) + pad);
            }
        const double z2d = at.z2[a] - near.sum() * (1 + 1e-14);
        at.worth[a] =
            z2d > 0 && resolved(at, z2d, room) ? at.gain[a] * (at.z2[a] / z2d) * (1 + 1e-14) - paid(at, a) : INFINITY;
        if (!spend(static_cast<double>((at.size - first) * (at.rank + 6)))) return false;
    }
}

// Leaves out the columns that do not reach the cutoff with the best others; whether there were any.
bool Completions::drop(Level& at, Index room) {
    const double most = threshold(at);
    Largest others(top_, room - 1);
    for (Index j = 0; j < at.size; ++j) others.add(at.worth[static_cast<size_t>(j)]);
    const double rest = others.sum();
    Index kept = 0;
    for (Index j = 0; j < at.size; ++j) {
        const auto b = static_cast<size_t>(j), a = static_cast<size_t>(kept);
        if (!(at.worth[b] + rest > most)) continue;
        if (a != b) move(at, b, a);
        ++kept;
    }
    const bool any = kept < at.size;
    at.size = kept;
    return any;
}

// The columns to branch on, where the work was too much: those without which the bound closes the node.
void Completions::rank_branches(Level& at, Index room, Index from, Answer& answer) {
    row_bounds(at, from, room);
    const double most = threshold(at);
    Index last = at.size;
    Largest taken(top_, room);
    while (last > from) {
        taken.add(at.worth[static_cast<size_t>(last - 1)]);
        if (taken.sum() > most) break;
        --last;
    }
    answer.branch.assign(at.column.begin(), at.column.begin() + std::max(last, from));
}

}  // namespace parsifal
