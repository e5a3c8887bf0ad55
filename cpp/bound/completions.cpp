#include "bound/completions.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "bound/largest.hpp"

namespace parsifal {

namespace {

using Numbers = Eigen::Map<const Eigen::ArrayXd>;
using OwnNumbers = Eigen::Map<Eigen::ArrayXd>;

// Columns of which less is left are near those that are in: their correlations are computed, not bounded.
constexpr double far_square = 0.65;

}  // namespace

Completions::Completions(const CorrelationTable& table, const Alarm& alarm, const Data& data)
    : table_(table),
      alarm_(alarm),
      data_(data),
      alike_(!table.rules() || table.rules()->uniform),
      paid_(alike_ && table.size() > 0 ? 2 * table.price(0) : 0.0),
      scaled_(static_cast<size_t>(table.size())) {}

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
    if (table_.rules() && !judge(value, charge, more)) return;
    double least = value - charge;
    if (!(std::min(value, least) < cutoff_)) {
        lowest_ = std::min(lowest_, least);
        return;
    }
    std::vector<Index> set = in_;
    set.insert(set.end(), more.begin(), more.end());
    if (value < cutoff_) {
        best_value_ = value;
        cutoff_ = std::min(cutoff_, gap_.cutoff(value));
        best_ = set;
    }
    // The data tell more, where rounding is all that keeps the set below the cutoff; not once one is, whatever they
    // say.
    if (least < cutoff_ && lowest_ >= cutoff_ && data_.at_hand()) {
        const double paid = table_.price_of(set) * (1 - static_cast<double>(set.size() + 2) * unit_roundoff);
        least = std::max(least, (data_.least_value(set) + paid) * (1 - 4 * unit_roundoff));
        spend(data_.work(set));
    }
    lowest_ = std::min(lowest_, least);
}

// The sets with one column more.
void Completions::singles(Level& at, Index room) {
    double most = threshold(at);
    if (at.size == 0 || Numbers(at.gain.data(), at.size).maxCoeff() <= most + least_paid(at)) return;
    for (Index j = 0; j < at.size; ++j) {
        const auto a = static_cast<size_t>(j);
        if (!(at.gain[a] > most + paid(at, a))) continue;
        const double b = table_.reach(at.column[a], at.beta[a]), taken = b * b / at.z2[a];
        const double size = std::sqrt(table_.y_square()) + at.w_size;
        const double charge = 2 * table_.unit() * size * size + 0.5 * (lengthening(at, room) / at.z2[a] + roundoff_);
        found(value_of(at, taken, {at.column[a]}), charge, {at.column[a]});
        most = threshold(at);
    }
}

// The sets of a column with one of those in a range, in closed form: b_T'G_T^-1 b_T = (b_i^2 + b_j^2 - 2 g b_i b_j) /
// (1 - g^2).
void Completions::pair_row(Level& at, Index position, Index first, Index last) {
    const double longer = lengthening(at, 2);
    const double size = std::sqrt(table_.y_square()) + at.w_size;
    const double sure = std::max(nearly_dependent, 2 * least_resolved(at, 2));
    const auto a = static_cast<size_t>(position);
    correlations(at, position, first, last, row_.data());
    const double z2i = at.z2[a], bi = at.beta[a];
    const auto *z2 = at.z2.data(), *beta = at.beta.data();
    const double price = paid(at, a), least = price + least_paid(at);
    double most = threshold(at) + least;
    for (Index j = first; j < last; ++j) {
        // Everything times |z_i|^2 |z_j|^2: no quotient in this loop.
        const double g = row_[static_cast<size_t>(j)], det = z2i * z2[j] - g * g;
        const double num = bi * bi * z2[j] + beta[j] * beta[j] * z2i - 2 * g * bi * beta[j];
        const double rounding = longer * (z2i + z2[j]) * 2;
        const double nearer = std::max(z2i, z2[j]);  // 1 - g^2 <= 2 (1 - |g|), times the lesser |z|^2: det / nearer
        if (num + rounding <= most * det * (1 - 1e-13) && det > sure * nearer) continue;
        if (j == position) continue;
        const Index column = at.column[static_cast<size_t>(j)];
        if (table_.rules() && det > sure * nearer) {
            const auto b = static_cast<size_t>(j);
            const double own = most - least + price + paid(at, b);
            if (num + rounding <= own * det * (1 - 1e-13) || pair_signs(at, a, b, g, own)) continue;
        }
        const double away = det / nearer;
        in_.push_back(at.column[a]);
        const bool independent = counts(at, away, 0.5 * away, 2, column);
        in_.pop_back();
        if (!independent) continue;
        const double charge = 2 * table_.unit() * size * size + 0.5 * (rounding / det + roundoff_);
        found(value_of(at, num / det, {at.column[a], column}), charge, {at.column[a], column});
        most = threshold(at) + least;
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
    const double paid = 2 * least_paid(at);
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
    sign_gains(at, longer);
    if (imply(at) && spend(static_cast<double>((up.size - from) * (up.rank + 6)))) {
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
    whole_bounds(at);
    for (Index first = 0; first < at.size && !stopped_; ++first) {
        if (!at.least.empty() && at.least[static_cast<size_t>(first)] + 2 * least_price() >= 2 * cutoff_) return;
        if (bounded(at, first, room, first % 4 == 0)) return;
        if (at.size - first < 2) return;
        // Now and then, where the gains alone would not reach the cutoff.
        if ((first & (first - 1)) == 0) {
            double gains = 0;
            for (Index j = first; j < std::min(first + room, at.size); ++j)
                gains += std::max(0.0, at.gain[static_cast<size_t>(j)] - paid(at, static_cast<size_t>(j)));
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

auto Completions::close(const std::vector<Index>& in, const std::vector<Index>& free, Index room, double objective,
                        const Gap& gap, double most_work) -> Answer {
    Answer answer;
    gap_ = gap;
    cutoff_ = gap.cutoff(objective);
    best_value_ = lowest_ = INFINITY;
    best_.clear();
    work_ = heard_ = 0;
    most_work_ = most_work;
    stopped_ = unresolved_ = false;
    room = std::min(room, static_cast<Index>(free.size()));
    set_size_ = static_cast<double>(static_cast<Index>(in.size()) + std::max<Index>(room, 0) + 16);
    roundoff_ = 32 * set_size_ * unit_roundoff * table_.y_square();
    cheapest_ = INFINITY;
    for (const Index j : free) cheapest_ = std::min(cheapest_, table_.price(j));
    if (const ColumnRules* rules = table_.rules()) {
        const double most =
            table_.price_of(in) + static_cast<double>(std::max<Index>(room, 0)) * rules->largest_price();
        roundoff_ += 16 * set_size_ * unit_roundoff * most;
    }
    plant(in, free, std::max<Index>(room, 1));
    Level& at = levels_[0];
    const double size = std::sqrt(table_.y_square()) + at.w_size;
    const double charge = 2 * table_.unit() * size * size + 0.5 * roundoff_;
    if (threshold(at) < 0) found(value_of(at, 0, {}), charge, {});
    if (room > 0) singles(at, room);
    const Index places = std::max<Index>(1, std::min(affordable(room), at.size));
    if (places > 1) explore(0, room, &answer);
    answer.closed = !stopped_;
    answer.resolved = !unresolved_;
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
