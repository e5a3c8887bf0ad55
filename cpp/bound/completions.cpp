#include "bound/completions.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace parsifal {

namespace {

// Below this part of a column's squared length its distance to a span is asked of the data.
constexpr double nearly_dependent = 1e-8;
constexpr Index most_exact_rows = 24;
// Columns of which less is left are near those that are in: their correlations are computed, not bounded.
constexpr double far_square = 0.65;

using Numbers = Eigen::Map<const Eigen::ArrayXd>;
using OwnNumbers = Eigen::Map<Eigen::ArrayXd>;

// The sum of the `count` largest positive numbers given to it.
class Largest {
  public:
    Largest(std::vector<double>& store, Index count) : store_(store), count_(static_cast<size_t>(count)) {
        store_.assign(count_, 0.0);
    }
    double least() const { return count_ ? store_.back() : INFINITY; }
    void add(double x) {
        if (!(x > least())) return;
        size_t at = count_ - 1;
        for (; at > 0 && store_[at - 1] < x; --at) store_[at] = store_[at - 1];
        store_[at] = x;
    }
    double sum() const { return std::accumulate(store_.begin(), store_.end(), 0.0); }

  private:
    std::vector<double>& store_;
    size_t count_;
};

}  // namespace

// ---- What all nodes share

CorrelationTable::CorrelationTable(const Quadratic& q)
    : q_(q), ridge_(std::isfinite(q.gamma) ? 1 / q.gamma : 0), scale_(q.size()) {
    const Index m = q.size();
    const Rounding& rounding = q.rounding;
    // y from the reference point: y'y = 2 LS(0), X'y = beta(0), with their errors (rounding.hpp).
    VectorXd beta;
    const VectorXd zero = VectorXd::Zero(m);
    q.gradient(zero, beta);
    yy_ = std::max(0.0, 2 * q.least_squares(zero, beta));
    b_ = beta;
    double excess = 1, reach = rounding.reach;  // how much longer than itself a column counts in its errors
    for (Index j = 0; j < m; ++j) {
        const double square = q.gram(j, j) + ridge_;
        scale_[j] = square > 0 ? 1 / std::sqrt(square) : 0;
        b_[j] *= scale_[j];
        if (rounding.norm.size() == 0) continue;
        reach += std::abs(q.v0[j]) * rounding.norm[j];
        excess = std::max(excess, scale_[j] * rounding.norm[j]);
    }
    const double own = 2.02 * static_cast<double>(std::min(q.k, m) + 16) * unit_roundoff;
    const double relative = rounding.error + rounding.unit_for(m) * reach;
    const double of_square = 2 * (rounding.base + rounding.drift * reach + 2 * relative * reach);
    unit_ = own + excess * excess * rounding.unit_for(8);
    if (yy_ > 0) {
        unit_ = std::max(unit_, own + excess * relative / std::sqrt(yy_));
        unit_ = std::max(unit_, own + of_square / yy_);
    }
    sort_correlations();
}

void CorrelationTable::sort_correlations() {
    const Index m = size(), kept = most_room - 1;
    largest_ = MatrixXd::Zero(levels * kept, m);
    neighbours_.resize(static_cast<size_t>(m));
    // For each column the largest in every band between two limits, and all above the last limit.
    std::vector<std::vector<double>> store(levels);
    std::vector<Index> count(levels, 0);
    const double last = limit[levels - 1];
    for (Index j = 0; j < m; ++j) {
        if (scale_[j] == 0) continue;
        std::vector<Largest> top;
        top.reserve(levels);
        for (auto& band : store) top.emplace_back(band, kept);
        auto& near = neighbours_[static_cast<size_t>(j)];
        const double* column = gram(j);
        for (Index i = 0; i < m; ++i) {
            if (i == j) continue;
            const double cosine = std::abs(column[i]) * scale_[i] * scale_[j];
            if (cosine <= last) {
                top[levels - 1].add(cosine);
                continue;
            }
            Index band = 0;
            while (cosine <= limit[band + 1]) ++band;
            top[static_cast<size_t>(band)].add(cosine);
            for (Index level = band + 1; level < levels; ++level) ++count[static_cast<size_t>(level)];
            near.push_back({i, cosine});
            nearest_ = std::max(nearest_, cosine);
        }
        if (near.empty() && m > 1) nearest_ = std::max(nearest_, store[levels - 1][0]);
        std::sort(near.begin(), near.end(), [](const Neighbour& x, const Neighbour& y) { return x.cosine > y.cosine; });
        std::vector<double> merged(static_cast<size_t>(kept));
        Largest all(merged, kept);
        for (Index level = levels - 1; level >= 0; --level) {
            for (const double x : store[static_cast<size_t>(level)]) all.add(x);
            double sum = 0;
            for (Index t = 0; t < kept; ++t) largest_(level * kept + t, j) = sum += merged[static_cast<size_t>(t)];
        }
    }
    for (Index level = 1; level < levels; ++level) {
        if (count[static_cast<size_t>(level)] <= 24 * m) finest_ = level;
        if (count[static_cast<size_t>(level)] <= 4 * m) pair_level_ = level;
    }
    for (auto& near : neighbours_) {
        while (!near.empty() && near.back().cosine <= limit[finest_]) near.pop_back();
        near.shrink_to_fit();
    }
}

void Completions::Level::reserve(Index columns, Index rows) {
    const auto n = static_cast<size_t>(columns);
    if (column.size() < n) {
        column.resize(n);
        origin.resize(n);
        z2.resize(n);
        beta.resize(n);
        gain.resize(n);
        worth.resize(n);
    }
    if (coordinate.size() < n * static_cast<size_t>(rows)) coordinate.resize(n * static_cast<size_t>(rows));
    capacity = columns;
}

Completions::Completions(const CorrelationTable& table, const Alarm& alarm, Dependent dependent)
    : table_(table), alarm_(alarm), dependent_(std::move(dependent)), scaled_(static_cast<size_t>(table.size())) {}

// ---- Numbers of a node

// What rounding can be worth: 2 c of a set is off by at most 4 unit (|y| + w_size)^2, and 4 unit stretch^2 |T| |r|^2 /
// (|z_j|^2 d_j) for each of its columns (docs/numerics.md). The second part lengthens the gains, the first shortens the
// threshold.
double Completions::lengthening(const Level& at, Index room) const {
    return 4 * table_.unit() * at.stretch * at.stretch * static_cast<double>(room) * at.rr;
}

// A set of columns that takes more than this off |r|^2, its price paid, may be below the cutoff; no other.
double Completions::threshold(const Level& at) const {
    const double size = std::sqrt(table_.y_square()) + at.w_size;
    return at.rr + 2 * table_.price() * static_cast<double>(in_.size()) - 2 * cutoff_ -
           4 * table_.unit() * size * size - roundoff_;
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
    if (!(table_.price() > 0)) return room;
    const double most = cutoff_ / table_.price() - static_cast<double>(in_.size());
    return most < static_cast<double>(room) ? static_cast<Index>(std::max(0.0, std::floor(most) + 1)) : room;
}

double Completions::value_of(const Level& at, double taken, Index more) const {
    return 0.5 * (at.rr - taken) + table_.price() * static_cast<double>(static_cast<Index>(in_.size()) + more);
}

// What the columns that are in cost whatever they fit: the product may have been rounded up.
double Completions::least_price() const {
    return table_.price() * static_cast<double>(in_.size()) * (1 - 2 * unit_roundoff);
}

bool Completions::spend(double work) {
    work_ += work;
    if (work_ > most_work_) stopped_ = true;
    if (work_ - heard_ > 1e6) {
        heard_ = work_;
        if (alarm_.rings()) stopped_ = true;
    }
    return !stopped_;
}

void Completions::found(double value, double charge, std::initializer_list<Index> more) {
    lowest_ = std::min(lowest_, value - charge);
    if (!(value < cutoff_)) return;
    best_value_ = value;
    cutoff_ = std::min(cutoff_, gap_.cutoff(value));
    best_ = in_;
    best_.insert(best_.end(), more.begin(), more.end());
}

// Whether a column of which only |z_j|^2 = z2 is left counts. It does not where it depends on those that are in; and
// where inner products do not tell, nothing is known about the sets with it.
bool Completions::counts(const Level& at, double z2, double z2d, Index room, Index j) {
    if (z2 > nearly_dependent && resolved(at, z2d, room)) return true;
    if (!table_.has_ridge() && z2 <= nearly_dependent && dependent_ && dependent_(in_, j)) return false;
    if (resolved(at, z2d, room)) return true;
    lowest_ = std::min(lowest_, least_price());
    return false;
}

// ---- Building a node

// The level below `up` with one more column in: what it does to y and to the factor.
void Completions::push(Level& level, const Level& up, const double* coordinates, double pivot, double beta) {
    const auto r = static_cast<size_t>(up.rank);
    const double q = beta / pivot;
    q_.resize(r + 1);
    q_[r] = q;
    inverse_.resize((r + 1) * (r + 2) / 2);
    double* fresh = inverse_.data() + r * (r + 1) / 2;
    std::fill(fresh, fresh + r, 0.0);
    for (size_t l = 0; l < r; ++l) {
        const double* old = inverse_.data() + l * (l + 1) / 2;
        for (size_t i = 0; i <= l; ++i) fresh[i] -= coordinates[l] * old[i];
    }
    double square = 1 / (pivot * pivot);
    for (size_t i = 0; i < r; ++i) {
        fresh[i] /= pivot;
        square += fresh[i] * fresh[i];
    }
    fresh[r] = 1 / pivot;
    level.rank = up.rank + 1;
    level.rr = std::max(0.0, up.rr - q * q);
    level.inverse_square = up.inverse_square + square;
    level.stretch = 1 + std::sqrt(static_cast<double>(level.rank) * level.inverse_square);
    level.w_size = 0;
    for (size_t i = 0; i <= r; ++i) {
        double w = 0;
        for (size_t l = i; l <= r; ++l) w += inverse_[l * (l + 1) / 2 + i] * q_[l];
        level.w_size += std::abs(w);
    }
}

// x_c'x_j less what the columns in account for, for the columns of the level from `first` to `last`.
void Completions::correlations(const Level& at, Index position, Index first, Index last, double* out) {
    if (at.above) {
        // From the coordinates of the level above, and the last one.
        const Level& up = *at.above;
        const Index origin = at.origin[static_cast<size_t>(position)];
        const double last_step = at.step[origin];
        const double* own = table_.gram(up.column[static_cast<size_t>(origin)]);
        const double scale = table_.scale(up.column[static_cast<size_t>(origin)]);
        for (Index j = first; j < last; ++j) {
            const Index b = at.origin[static_cast<size_t>(j)], column = at.column[static_cast<size_t>(j)];
            out[j] = own[column] * (scale * table_.scale(column)) - last_step * at.step[b];
        }
        for (Index l = 0; l < up.rank; ++l) {
            const double* row = up.row(l);
            const double factor = row[origin];
            for (Index j = first; j < last; ++j) out[j] -= factor * row[at.origin[static_cast<size_t>(j)]];
        }
        return;
    }
    const auto c = at.column[static_cast<size_t>(position)];
    if (4 * (last - first) > table_.size()) {
        // The whole row in the order of memory, then those that are asked for.
        OwnNumbers scaled(scaled_.data(), table_.size());
        scaled = Numbers(table_.gram(c), table_.size()) * Numbers(table_.scales(), table_.size()) * table_.scale(c);
        for (Index j = first; j < last; ++j) out[j] = scaled_[static_cast<size_t>(at.column[static_cast<size_t>(j)])];
    } else {
        const double* gram = table_.gram(c);
        const double scale = table_.scale(c);
        for (Index j = first; j < last; ++j) {
            const Index column = at.column[static_cast<size_t>(j)];
            out[j] = gram[column] * table_.scale(column) * scale;
        }
    }
    for (Index l = 0; l < at.rank; ++l) {
        const double* row = at.row(l);
        const double factor = row[position];
        for (Index j = first; j < last; ++j) out[j] -= factor * row[j];
    }
}

// The node itself, from the columns in one after the other.
bool Completions::plant(const std::vector<Index>& in, const std::vector<Index>& free, Index room) {
    levels_.resize(std::max(levels_.size(), static_cast<size_t>(room) + 2));
    Level& at = levels_[0];
    const auto inside = static_cast<Index>(in.size());
    at.reserve(inside + static_cast<Index>(free.size()), inside + 1);
    at.rank = 0;
    at.above = nullptr;
    at.rr = table_.y_square();
    at.w_size = at.inverse_square = 0;
    at.stretch = 1;
    q_.clear();
    in_.clear();
    Index size = 0;
    for (const auto* columns : {&in, &free})
        for (const Index j : *columns) {
            const auto a = static_cast<size_t>(size++);
            at.column[a] = j;
            at.z2[a] = table_.scale(j) > 0;
            at.beta[a] = table_.product(j);
        }
    at.size = size;
    row_.resize(static_cast<size_t>(size));
    for (Index c = 0; c < inside; ++c) {
        const auto a = static_cast<size_t>(c);
        // Columns that are in and depend on others count by their span.
        const bool independent = counts(at, at.z2[a], at.z2[a], 1, in[a]);
        in_.push_back(in[a]);
        if (!independent) continue;
        const double pivot = std::sqrt(at.z2[a]);
        correlations(at, c, c, size, row_.data());
        own_.clear();
        for (Index l = 0; l < at.rank; ++l) own_.push_back(at.row(l)[c]);
        double* fresh = at.row(at.rank);
        push(at, at, own_.data(), pivot, at.beta[a]);
        const double q = q_.back();
        for (Index j = c + 1; j < size; ++j) {
            const auto b = static_cast<size_t>(j);
            const double step = row_[b] / pivot;
            fresh[j] = step;
            at.z2[b] -= step * step;
            at.beta[b] -= step * q;
        }
    }
    // Only the free columns from here on, and of these the ones that say something new.
    const double longer = lengthening(at, room);
    Index kept = 0;
    for (Index j = inside; j < size; ++j) {
        const auto b = static_cast<size_t>(j), a = static_cast<size_t>(kept);
        if (table_.scale(at.column[b]) == 0) continue;
        if (!counts(at, at.z2[b], at.z2[b], room, at.column[b])) continue;
        at.column[a] = at.column[b];
        at.origin[a] = j;
        at.z2[a] = at.z2[b];
        at.beta[a] = at.beta[b];
        at.gain[a] = (at.beta[a] * at.beta[a] + longer) / at.z2[a];
        ++kept;
    }
    for (Index l = 0; l < at.rank; ++l)
        for (Index a = 0; a < kept; ++a) at.row(l)[a] = at.row(l)[at.origin[static_cast<size_t>(a)]];
    at.size = kept;
    sort(at);
    // Rows follow the order of the columns.
    std::vector<double> moved(static_cast<size_t>(kept));
    for (Index l = 0; l < at.rank; ++l) {
        for (Index a = 0; a < kept; ++a) moved[static_cast<size_t>(a)] = at.row(l)[order_[static_cast<size_t>(a)]];
        std::copy(moved.begin(), moved.end(), at.row(l));
    }
    return spend(static_cast<double>(size * (inside + 1) * (inside + 4)));
}

// Puts the columns of a level into the order of their gains; `order_` says where each has been.
void Completions::sort(Level& at) {
    const auto n = static_cast<size_t>(at.size);
    order_.resize(n);
    std::iota(order_.begin(), order_.end(), Index{0});
    std::sort(order_.begin(), order_.end(), [&](Index a, Index b) {
        const double x = at.gain[static_cast<size_t>(a)], y = at.gain[static_cast<size_t>(b)];
        return x != y ? x > y : at.column[static_cast<size_t>(a)] < at.column[static_cast<size_t>(b)];
    });
    scratch_.resize(n);
    for (auto* values : {&at.z2, &at.beta, &at.gain}) {
        for (size_t a = 0; a < n; ++a) scratch_[a] = (*values)[static_cast<size_t>(order_[a])];
        std::copy(scratch_.begin(), scratch_.end(), values->begin());
    }
    std::vector<Index> moved(n);
    for (auto* values : {&at.column, &at.origin}) {
        for (size_t a = 0; a < n; ++a) moved[a] = (*values)[static_cast<size_t>(order_[a])];
        std::copy(moved.begin(), moved.end(), values->begin());
    }
}

void Completions::gather_rows(const Level& up, Level& at, const double* step) {
    at.above = nullptr;
    at.reserve(at.capacity, at.rank);
    for (Index l = 0; l <= up.rank; ++l) {
        const double* from = l < up.rank ? up.row(l) : step;
        double* to = at.row(l);
        for (Index a = 0; a < at.size; ++a) to[a] = from[at.origin[static_cast<size_t>(a)]];
    }
}

// ---- Bounds

// worth_j for the columns from `first` on, their row sums bounded through those over all columns of the problem, less
// the neighbours at this level: |z_i'z_j| <= |x_i'x_j| + |L_i| |L_j|, and |z_j|^2 less the row sum is |z_j|^2 d_j.
void Completions::row_bounds(Level& at, Index first, Index room, Index level) {
    const Index others = room - 1;
    const double paid = 2 * table_.price(), pad = static_cast<double>(others) * 8 * set_size_ * unit_roundoff;
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
        at.worth[a] = z2d > 0 && z2d >= resolution ? at.gain[a] * (at.z2[a] / z2d) * (1 + 1e-14) - paid : INFINITY;
    }
    spend(4.0 * static_cast<double>(at.size - first));
}

// Whether no set of up to `room` of the columns from `first` on goes below the cutoff. Thorough: with the exact rows of
// the columns that decide; worth_j is theirs afterwards.
bool Completions::bounded(Level& at, Index first, Index room, bool thorough) {
    const double most = threshold(at);
    const double paid = 2 * table_.price();
    Largest unhindered(top_, room);
    for (Index j = first; j < at.size; ++j) unhindered.add(at.gain[static_cast<size_t>(j)] - paid);
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
            z2d > 0 && resolved(at, z2d, room) ? at.gain[a] * (at.z2[a] / z2d) * (1 + 1e-14) - paid : INFINITY;
        if (!spend(static_cast<double>((at.size - first) * (at.rank + 6)))) return false;
    }
}

void Completions::move(Level& at, size_t from, size_t to) {
    at.column[to] = at.column[from];
    at.origin[to] = at.origin[from];
    at.z2[to] = at.z2[from];
    at.beta[to] = at.beta[from];
    at.gain[to] = at.gain[from];
    at.worth[to] = at.worth[from];
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

// ---- The search

// The sets with one column more.
void Completions::singles(Level& at, Index room) {
    const double paid = 2 * table_.price();
    double most = threshold(at) + paid;
    if (at.size == 0 || Numbers(at.gain.data(), at.size).maxCoeff() <= most) return;
    for (Index j = 0; j < at.size; ++j) {
        const auto a = static_cast<size_t>(j);
        if (!(at.gain[a] > most)) continue;
        const double taken = at.beta[a] * at.beta[a] / at.z2[a];
        const double size = std::sqrt(table_.y_square()) + at.w_size;
        const double charge = 2 * table_.unit() * size * size + 0.5 * (lengthening(at, room) / at.z2[a] + roundoff_);
        found(value_of(at, taken, 1), charge, {at.column[a]});
        most = threshold(at) + paid;
    }
}

// The sets of a column with one of those in a range, in closed form: b_T'G_T^-1 b_T = (b_i^2 + b_j^2 - 2 g b_i b_j) /
// (1 - g^2).
void Completions::pair_row(Level& at, Index position, Index first, Index last) {
    const double paid = 4 * table_.price(), longer = lengthening(at, 2);
    const double size = std::sqrt(table_.y_square()) + at.w_size;
    const double sure = std::max(nearly_dependent, 2 * least_resolved(at, 2));
    const auto a = static_cast<size_t>(position);
    correlations(at, position, first, last, row_.data());
    const double z2i = at.z2[a], bi = at.beta[a];
    const auto *z2 = at.z2.data(), *beta = at.beta.data();
    double most = threshold(at) + paid;
    for (Index j = first; j < last; ++j) {
        // Everything times |z_i|^2 |z_j|^2: no quotient in this loop.
        const double g = row_[static_cast<size_t>(j)], det = z2i * z2[j] - g * g;
        const double num = bi * bi * z2[j] + beta[j] * beta[j] * z2i - 2 * g * bi * beta[j];
        const double rounding = longer * (z2i + z2[j]) * 2;
        const double nearer = std::max(z2i, z2[j]);  // 1 - g^2 <= 2 (1 - |g|), times the lesser |z|^2: det / nearer
        if (num + rounding <= most * det * (1 - 1e-13) && det > sure * nearer) continue;
        if (j == position) continue;
        const Index column = at.column[static_cast<size_t>(j)];
        const double away = det / nearer;
        in_.push_back(at.column[a]);
        const bool independent = counts(at, away, 0.5 * away, 2, column);
        in_.pop_back();
        if (!independent) continue;
        const double charge = 2 * table_.unit() * size * size + 0.5 * (rounding / det + roundoff_);
        found(value_of(at, num / det, 2), charge, {at.column[a], column});
        most = threshold(at) + paid;
    }
    spend(static_cast<double>((last - first) * (at.rank + 6)));
}

// The pairs of neighbours that may go below the cutoff, one by one, where the strongest column has this gain and no two
// are nearer than `closest` = 1 - |g|; false if out of work.
bool Completions::strong_neighbours(Level& at, double most, double gain, double closest) {
    locate(at);
    const double limit = CorrelationTable::limit[table_.pair_level()];
    for (Index i = 0; i < at.size; ++i) {
        const auto a = static_cast<size_t>(i);
        if (at.worth[a] < 0 || at.worth[a] + gain <= most * closest) continue;
        for (const auto& near : table_.neighbours(at.column[a])) {
            if (near.cosine <= limit) break;
            const Index j = at.place[static_cast<size_t>(near.column)];
            if (j <= i || j >= at.size || at.column[static_cast<size_t>(j)] != near.column) continue;
            const auto b = static_cast<size_t>(j);
            const double s = (near.cosine + rest_[a] * rest_[b]) * (1 + 1e-12);
            const double di = at.z2[a] - s, dj = at.z2[b] - s;
            if (di > 0 && dj > 0 && at.gain[a] * at.z2[a] * dj + at.gain[b] * at.z2[b] * di <= most * di * dj) continue;
            pair_row(at, i, j, j + 1);
        }
        if (!spend(4)) return false;
    }
    return true;
}

// The sets with two columns more. No pair takes more than (b_i^2 + b_j^2) / (1 - |g|): near columns and neighbours are
// looked at by themselves; for the others |g| is small, and only a strong one can be part of a pair that counts.
void Completions::pairs(Level& at) {
    const auto n = static_cast<size_t>(at.size);
    const double paid = 4 * table_.price();
    rest_.resize(n);
    double least = 1, longest = 0;
    for (size_t a = 0; a < n; ++a) {
        rest_[a] = std::sqrt(std::max(0.0, 1 - at.z2[a]));
        at.worth[a] = at.gain[a];  // of the columns still to be looked at; negative: done
        if (at.z2[a] < far_square) continue;
        least = std::min(least, at.z2[a]);
        longest = std::max(longest, rest_[a]);
    }
    for (size_t a = 0; a < n; ++a)
        if (at.z2[a] < far_square) {
            pair_row(at, static_cast<Index>(a), 0, at.size);
            at.worth[a] = -1;
            if (stopped_) return;
        }
    // How far from each other the far ones are, neighbours or not; a strong column has to make up for the rest.
    const double limit = table_.pair_level() == 0 ? table_.nearest() : CorrelationTable::limit[table_.pair_level()];
    apart_.resize(n);
    const double z_least = std::sqrt(least);
    for (size_t a = 0; a < n; ++a)
        apart_[a] =
            1 - (std::min(limit, table_.nearest()) + rest_[a] * longest) / (std::sqrt(at.z2[a]) * z_least) - 1e-12;
    spend(6.0 * static_cast<double>(n));
    bool neighbours = table_.pair_level() > 0 && table_.nearest() > limit;
    for (;;) {
        const double most = threshold(at) + paid;
        size_t strongest = n;
        double gain = 0;
        for (size_t a = 0; a < n; ++a)
            if (at.worth[a] > gain) {
                gain = at.worth[a];
                strongest = a;
            }
        if (strongest == n) return;
        if (neighbours) {
            neighbours = false;
            const double closest = 1 - (table_.nearest() + longest * longest) / least;
            if (!(2 * gain <= most * closest) && !strong_neighbours(at, most, gain, closest)) return;
        }
        bool any = false;
        for (size_t a = 0; a < n; ++a)
            any |= at.worth[a] >= 0 && a != strongest && at.worth[a] + gain > most * apart_[a];
        if (!any) return;
        pair_row(at, static_cast<Index>(strongest), 0, at.size);
        at.worth[strongest] = -1;
        if (!spend(2.0 * static_cast<double>(n))) return;
    }
}

void Completions::locate(Level& at) const {
    at.place.resize(static_cast<size_t>(table_.size()));
    for (Index j = 0; j < at.size; ++j) at.place[static_cast<size_t>(at.column[static_cast<size_t>(j)])] = j;
}

// Leaves out the columns that add nothing to those that are in, or of which nothing is known.
void Completions::leave_out(Level& at, Index room, double sure) {
    Index kept = 0;
    for (Index j = 0; j < at.size; ++j) {
        const auto b = static_cast<size_t>(j), a = static_cast<size_t>(kept);
        if (!(at.z2[b] > sure) && !counts(at, at.z2[b], at.z2[b], room, at.column[b])) continue;
        if (a != b) move(at, b, a);
        ++kept;
    }
    at.size = kept;
}

// The sets that the columns in make with one column of the level and up to room - 1 of those from `from` on; with
// `near`, only those with one of these columns.
void Completions::descend(Index depth, Index position, Index from, Index room, std::span<const Pair> near) {
    Level &up = levels_[static_cast<size_t>(depth)], &at = levels_[static_cast<size_t>(depth) + 1];
    const auto c = static_cast<size_t>(position);
    const Index left = room - 1;
    const double pivot = std::sqrt(up.z2[c]);
    correlations(up, position, from, up.size, row_.data());
    own_.clear();
    for (Index l = 0; l < up.rank; ++l) own_.push_back(up.row(l)[position]);
    in_.push_back(up.column[c]);
    push(at, up, own_.data(), pivot, up.beta[c]);
    at.reserve(up.size - from, 0);
    const double q = q_.back(), longer = lengthening(at, left);
    const auto steps = static_cast<size_t>(depth) * levels_[0].column.size();
    if (step_.size() < steps + levels_[0].column.size()) step_.resize(levels_.size() * levels_[0].column.size());
    double* step = step_.data() + steps;
    const double sure = std::max(nearly_dependent, least_resolved(at, left));
    const Index size = up.size - from;
    if (position >= from) row_[c] = 0;  // not near itself: it goes below
    const Numbers up_z2(up.z2.data() + from, size), up_beta(up.beta.data() + from, size), row(row_.data() + from, size);
    OwnNumbers step_here(step + from, size), z2(at.z2.data(), size), beta(at.beta.data(), size),
        gain(at.gain.data(), size);
    step_here = row * (1 / pivot);
    z2 = up_z2 - step_here.square();
    beta = up_beta - q * step_here;
    gain = (beta.square() + longer) / z2;
    const bool all = size == 0 || z2.minCoeff() > sure;
    std::copy(up.column.begin() + from, up.column.begin() + up.size, at.column.begin());
    std::iota(at.origin.begin(), at.origin.begin() + size, from);
    at.size = size;
    if (position >= from) {
        --at.size;
        move(at, static_cast<size_t>(at.size), static_cast<size_t>(position - from));
    }
    if (!all) leave_out(at, left, sure);
    at.above = &up;
    at.step = step;
    if (spend(static_cast<double>((up.size - from) * (up.rank + 6)))) {
        singles(at, left);
        const Index places = std::min(affordable(left), at.size);
        if (!near.empty()) {
            gather_rows(up, at, step);
            locate(at);
            for (const auto& [first, column] : near) {
                const Index j = at.place[static_cast<size_t>(column)];
                if (j < at.size && at.column[static_cast<size_t>(j)] == column && !stopped_)
                    descend(depth + 1, j, 0, left);
            }
        } else if (places == 2) {
            pairs(at);
        } else if (places > 2 && !bounded(at, 0, left, false)) {
            drop(at, left);
            sort(at);
            gather_rows(up, at, step);
            explore(depth + 1, left, nullptr);
        }
    }
    in_.pop_back();
    q_.resize(static_cast<size_t>(up.rank));
}

// Whether the columns from `first` on are closed by the bound on sets without neighbours, at some level, and by going
// through the sets with a pair of neighbours, or with a column that has no bound at this level.
bool Completions::apart(Index depth, Index first, Index room) {
    Level& at = levels_[static_cast<size_t>(depth)];
    const double most = threshold(at);
    bool closes = false;
    locate(at);
    for (Index level = 0; level <= table_.finest() && !closes; ++level) {
        row_bounds(at, first, room, level);
        at.alone.clear();
        Largest taken(top_, room);
        for (Index j = first; j < at.size; ++j) {
            const double worth = at.worth[static_cast<size_t>(j)];
            if (worth < INFINITY)
                taken.add(worth);
            else
                at.alone.push_back(j);
        }
        const Index left = at.size - first;
        if (taken.sum() > most || static_cast<Index>(at.alone.size()) > left / 4) continue;
        list_neighbours(at, first, level);
        // The longer branching has not closed the node, the more pairs are worth going through.
        const size_t count = at.alone.size() + at.near.size();
        closes = count <= static_cast<size_t>(left * std::min<Index>(8, first / 4));
    }
    if (!closes) return false;
    for (const Index j : at.alone)
        if (!stopped_) descend(depth, j, first, room);
    for (size_t begin = 0, end = 0; begin < at.near.size() && !stopped_; begin = end) {
        while (end < at.near.size() && at.near[end].first == at.near[begin].first) ++end;
        descend(depth, at.near[begin].first, first, room, std::span(at.near).subspan(begin, end - begin));
    }
    return !stopped_;
}

// The pairs of neighbours among the columns from `first` on that have a bound: a position, and the other column.
void Completions::list_neighbours(Level& at, Index first, Index level) {
    const double limit = CorrelationTable::limit[level];
    at.near.clear();
    for (Index i = first; i < at.size; ++i) {
        const auto a = static_cast<size_t>(i);
        if (at.worth[a] == INFINITY) continue;
        for (const auto& neighbour : table_.neighbours(at.column[a])) {
            if (neighbour.cosine <= limit) break;
            const Index j = at.place[static_cast<size_t>(neighbour.column)];
            if (j > i && j < at.size && at.column[static_cast<size_t>(j)] == neighbour.column &&
                at.worth[static_cast<size_t>(j)] < INFINITY)
                at.near.emplace_back(i, neighbour.column);
        }
    }
}

void Completions::explore(Index depth, Index room, Answer* top) {
    Level& at = levels_[static_cast<size_t>(depth)];
    room = std::min(affordable(room), at.size);
    if (room <= 1) return;
    if (room == 2) {
        pairs(at);
        return;
    }
    for (Index first = 0; first < at.size && !stopped_; ++first) {
        if (bounded(at, first, room, first % 4 == 0)) return;
        if (at.size - first < 2) return;
        // Now and then, where the gains alone would not reach the cutoff.
        if ((first & (first - 1)) == 0) {
            double gains = 0;
            for (Index j = first; j < std::min(first + room, at.size); ++j)
                gains += std::max(0.0, at.gain[static_cast<size_t>(j)] - 2 * table_.price());
            if (gains <= threshold(at)) {
                if (apart(depth, first, room)) return;
                if (stopped_) return;
                row_bounds(at, first, room);
            }
        }
        // Not even with the best of the others.
        Largest others(top_, room - 1);
        for (Index j = first + 1; j < at.size; ++j) others.add(at.worth[static_cast<size_t>(j)]);
        const bool reaches = at.worth[static_cast<size_t>(first)] + others.sum() > threshold(at);
        if (reaches) descend(depth, first, first + 1, room);
        if (top && !stopped_) top->done = static_cast<size_t>(first) + 1;
    }
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

auto Completions::close(const std::vector<Index>& in, const std::vector<Index>& free, Index room, double objective,
                        const Gap& gap, double most_work) -> Answer {
    Answer answer;
    gap_ = gap;
    cutoff_ = gap.cutoff(objective);
    best_value_ = lowest_ = INFINITY;
    best_.clear();
    work_ = heard_ = 0;
    most_work_ = most_work;
    stopped_ = false;
    room = std::min(room, static_cast<Index>(free.size()));
    set_size_ = static_cast<double>(static_cast<Index>(in.size()) + std::max<Index>(room, 0) + 16);
    roundoff_ = 32 * set_size_ * unit_roundoff * table_.y_square();
    plant(in, free, std::max<Index>(room, 1));
    Level& at = levels_[0];
    const double size = std::sqrt(table_.y_square()) + at.w_size;
    const double charge = 2 * table_.unit() * size * size + 0.5 * roundoff_;
    if (threshold(at) < 0) found(value_of(at, 0, 0), charge, {});
    if (room > 0) singles(at, room);
    const Index places = std::max<Index>(1, std::min(affordable(room), at.size));
    if (places > 1) explore(0, room, &answer);
    answer.closed = !stopped_;
    answer.value = best_value_;
    answer.support = best_;
    answer.work = work_;
    answer.closed_bound = std::min(cutoff_, lowest_);
    if (answer.closed) {
        answer.bound = answer.closed_bound;
        return answer;
    }
    answer.bound = least_price();
    stopped_ = false;
    most_work_ = INFINITY;
    row_bounds(at, 0, places);
    Largest taken(top_, places);
    for (Index j = 0; j < at.size; ++j) taken.add(at.worth[static_cast<size_t>(j)]);
    const double all = cutoff_ + 0.5 * (threshold(at) - taken.sum());
    // Columns that do not reach the cutoff are gone by now, and so are sets that cannot be paid below it.
    if (std::isfinite(all)) answer.bound = std::max(answer.bound, std::min(all, answer.closed_bound));
    rank_branches(at, places, static_cast<Index>(answer.done), answer);
    return answer;
}

}  // namespace parsifal
