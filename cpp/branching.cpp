#include "branching.hpp"

#include <algorithm>
#include <cmath>

namespace parsifal {

PseudoCosts::PseudoCosts(Index columns)
    : in_(VectorXd::Zero(columns)), out_(VectorXd::Zero(columns)), count_(VectorXd::Zero(columns)) {}

void PseudoCosts::learn(const Candidate& c, double gain_in, double gain_out) {
    if (!std::isfinite(gain_in) || !std::isfinite(gain_out)) return;
    std::lock_guard lock(mutex_);
    // Gains per unit of the distance that the branch moves s.
    const double up = gain_in / std::max(1 - c.fraction, 1e-3), down = gain_out / std::max(c.fraction, 1e-3);
    in_[c.column] += up;
    out_[c.column] += down;
    count_[c.column] += 1;
    sum_in_ += up;
    sum_out_ += down;
    total_ += 1;
}

std::vector<double> PseudoCosts::save() const {
    std::lock_guard lock(mutex_);
    std::vector<double> saved{sum_in_, sum_out_, total_};
    for (const VectorXd* part : {&in_, &out_, &count_}) saved.insert(saved.end(), part->begin(), part->end());
    return saved;
}

void PseudoCosts::restore(const std::vector<double>& saved) {
    std::lock_guard lock(mutex_);
    const auto size = static_cast<size_t>(in_.size());
    if (saved.size() != 3 + 3 * size) return;  // of a tree that had not begun
    sum_in_ = saved[0], sum_out_ = saved[1], total_ = saved[2];
    size_t at = 3;
    for (VectorXd* part : {&in_, &out_, &count_})
        for (double& x : *part) x = saved[at++];
}

double PseudoCosts::score(const Candidate& c) const {
    // One imagined observation at the overall mean keeps a column seen once or never from being over- or underrated.
    const double prior = total_ > 0 ? 1.0 : 0.0, n = std::max(count_[c.column] + prior, 1.0),
                 all = std::max(total_, 1.0);
    const double up = (in_[c.column] + prior * sum_in_ / all) / n;
    const double down = (out_[c.column] + prior * sum_out_ / all) / n;
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
