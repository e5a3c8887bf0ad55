// Completions: what is left of y and of the columns once others are in, and the order they are in.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "bound/completions.hpp"

namespace parsifal {

namespace {

using Numbers = Eigen::Map<const Eigen::ArrayXd>;
using OwnNumbers = Eigen::Map<Eigen::ArrayXd>;

}  // namespace

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
        const double reach = table_.reach(at.column[a], at.beta[a]);
        at.gain[a] = (reach * reach + longer) / at.z2[a];
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
        double x = at.gain[static_cast<size_t>(a)], y = at.gain[static_cast<size_t>(b)];
        if (table_.rules()) {
            x -= paid(at, static_cast<size_t>(a));
            y -= paid(at, static_cast<size_t>(b));
        }
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

void Completions::move(Level& at, size_t from, size_t to) {
    at.column[to] = at.column[from];
    at.origin[to] = at.origin[from];
    at.z2[to] = at.z2[from];
    at.beta[to] = at.beta[from];
    at.gain[to] = at.gain[from];
    at.worth[to] = at.worth[from];
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

// The gains of columns with signs, as `descend` has made them without.
void Completions::sign_gains(Level& at, double longer) const {
    if (!table_.rules() || !table_.rules()->any_sign) return;
    for (Index j = 0; j < at.size; ++j) {
        const auto a = static_cast<size_t>(j);
        const double b = table_.reach(at.column[a], at.beta[a]);
        at.gain[a] = (b * b + longer) / at.z2[a];
    }
}

// Leaves out the columns that side constraints exclude; false if they allow no set of the columns in and of these.
bool Completions::imply(Level& at) {
    if (!table_.rules() || table_.rules()->rows.empty()) return true;
    fix_.setConstant(table_.size(), -1);
    for (const Index j : in_) fix_[j] = 1;
    for (Index j = 0; j < at.size; ++j) fix_[at.column[static_cast<size_t>(j)]] = 0;
    if (!table_.rules()->rows.propagate(fix_)) return false;
    Index kept = 0;
    for (Index j = 0; j < at.size; ++j) {
        const auto b = static_cast<size_t>(j), a = static_cast<size_t>(kept);
        if (fix_[at.column[b]] < 0) continue;
        if (a != b) move(at, b, a);
        ++kept;
    }
    at.size = kept;
    return true;
}

void Completions::locate(Level& at) const {
    at.place.resize(static_cast<size_t>(table_.size()));
    for (Index j = 0; j < at.size; ++j) at.place[static_cast<size_t>(at.column[static_cast<size_t>(j)])] = j;
}

}  // namespace parsifal
