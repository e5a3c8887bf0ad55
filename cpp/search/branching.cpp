#include "search/branching.hpp"

#include <algorithm>
#include <cmath>

namespace parsifal {

PseudoCosts::PseudoCosts(Index columns)
    : seen_{VectorXd::Zero(columns), VectorXd::Zero(columns), VectorXd::Zero(columns)} {}

void PseudoCosts::learn(const Candidate& c, double gain_in, double gain_out) {
    if (!std::isfinite(gain_in) || !std::isfinite(gain_out)) return;
    std::lock_guard lock(mutex_);
    // Gains per unit of the distance that the branch moves s.
    const double up = gain_in / std::max(1 - c.fraction, 1e-3), down = gain_out / std::max(c.fraction, 1e-3);
    seen_.in[c.column] += up;
    seen_.out[c.column] += down;
    seen_.count[c.column] += 1;
    seen_.sum_in += up;
    seen_.sum_out += down;
    seen_.total += 1;
}

SeenGains PseudoCosts::save() const {
    std::lock_guard lock(mutex_);
    return seen_;
}

void PseudoCosts::restore(const SeenGains& saved) {
    std::lock_guard lock(mutex_);
    if (saved.in.size() == seen_.in.size()) seen_ = saved;  // otherwise of a tree that had not begun
}

double PseudoCosts::score(const Candidate& c) const {
    // One imagined observation at the overall mean keeps a column seen once or never from being over- or underrated.
    const double prior = seen_.total > 0 ? 1.0 : 0.0, n = std::max(seen_.count[c.column] + prior, 1.0),
                 all = std::max(seen_.total, 1.0);
    const double up = (seen_.in[c.column] + prior * seen_.sum_in / all) / n;
    const double down = (seen_.out[c.column] + prior * seen_.sum_out / all) / n;
    const double tiny = 1e-12;
    return std::max(up, tiny) * (1 - c.fraction) * std::max(down, tiny) * c.fraction;
}

Candidate PseudoCosts::choose(const std::vector<Candidate>& candidates, Branching rule) const {
    std::lock_guard lock(mutex_);
    auto key = [&](const Candidate& c) {
        switch (rule) {
            case Branching::largest:
                return std::abs(c.v);
            case Branching::fractional:
                return std::min(c.fraction, 1 - c.fraction);
            default:
                return score(c);
        }
    };
    const Candidate* best = &candidates[0];
    double value = key(*best);
    for (const Candidate& c : candidates) {
        const double k = key(c);
        if (k > value) {
            best = &c;
            value = k;
        }
    }
    return *best;
}

std::vector<Candidate> PseudoCosts::shortlist(const std::vector<Candidate>& candidates, size_t most) const {
    std::vector<Candidate> list = candidates;
    const size_t size = std::min(most, list.size());
    std::partial_sort(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(size), list.end(),
                      [](const Candidate& a, const Candidate& b) {
                          if (a.fraction != b.fraction) return a.fraction > b.fraction;
                          return a.column < b.column;
                      });
    list.resize(size);
    return list;
}

}  // namespace parsifal
