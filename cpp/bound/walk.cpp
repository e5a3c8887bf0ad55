#include "bound/walk.hpp"

#include <algorithm>
#include <cmath>

namespace parsifal {

namespace {

// What is left of a column counts as no less than this part of it: below, single precision tells nothing.
constexpr float least_part = 1e-4F;
// A move counts as one if it gains this part of what is compared.
constexpr double least_gain = 2e-6;

}  // namespace

Walk::Walk(const Survivors& problem)
    : q_(problem),
      origin_value_(problem.least_squares({}, VectorXd())),
      squares_(problem.squares().cast<float>()),
      r_(problem.origin().cast<float>()),
      least_((least_part * squares_).max(static_cast<float>(1 / problem.gamma)).max(1e-30F)) {}

bool Walk::begin(const ConstFix& fix, const std::vector<Index>& support, const Alarm& alarm) {
    const Index m = q_.size(), places = static_cast<Index>(support.size()) + 1;
    if (columns_.cols() < places) {
        columns_.resize(m, places);
        inverse_.resize(places, places);
        w_.resize(places);
    }
    beta_ = r_;
    h_ = squares_ + static_cast<float>(1 / q_.gamma);
    for (Index j = 0; j < m; ++j)
        if (fix[j] < 0) h_[j] = INFINITY;
    h_ = h_.max(least_);
    value_ = origin_value_;
    support_.clear();
    for (const Index j : support) {
        if (alarm.rings()) return false;
        add(j);
    }
    return true;
}

void Walk::add(Index j) {
    const auto k = static_cast<Index>(support_.size());
    if (columns_.cols() <= k) {
        columns_.conservativeResize(Eigen::NoChange, k + 1);
        inverse_.conservativeResize(k + 1, k + 1);
        w_.conservativeResize(k + 1);
    }
    const GramColumn column = q_.column(j);
    const double h = h_[j], step = beta_[j] / h;
    z_ = Eigen::Map<const VectorXd>(column.get(), q_.size()).cast<float>();
    for (Index b = 0; b < k; ++b)
        z_ -= static_cast<float>(column.get()[support_[static_cast<size_t>(b)]]) * columns_.col(b);
    const auto inverse_h = static_cast<float>(1 / h);
    VectorXd u(k);
    for (Index b = 0; b < k; ++b) u[b] = columns_(j, b);
    beta_ -= static_cast<float>(step) * z_;
    h_ = (h_ - inverse_h * z_.square()).max(least_);
    for (Index b = 0; b < k; ++b) columns_.col(b) -= (static_cast<float>(u[b]) * inverse_h) * z_;
    columns_.col(k) = inverse_h * z_;
    h_[j] = INFINITY;

    inverse_.topLeftCorner(k, k) += u * u.transpose() / h;
    inverse_.col(k).head(k) = -u / h;
    inverse_.row(k).head(k) = -u.transpose() / h;
    inverse_(k, k) = 1 / h;
    w_.head(k) -= step * u;
    w_[k] = step;
    value_ += q_.lambda - 0.5 * step * step * h;
    support_.push_back(j);
    work_ += static_cast<double>(q_.size() * (k + 1));
}

void Walk::drop(Index place) {
    const auto k = static_cast<Index>(support_.size()), last = k - 1;
    const double c = inverse_(place, place), step = w_[place] / c;
    z_ = columns_.col(place);
    beta_ += static_cast<float>(step) * z_;
    h_ += static_cast<float>(1 / c) * z_.square();
    h_[support_[static_cast<size_t>(place)]] = static_cast<float>(1 / c);
    const VectorXd own = inverse_.col(place).head(k);
    for (Index b = 0; b < k; ++b)
        if (b != place) columns_.col(b) -= static_cast<float>(own[b] / c) * z_;
    value_ += 0.5 * step * step * c - q_.lambda;
    w_.head(k) -= step * own;
    inverse_.topLeftCorner(k, k) -= own * own.transpose() / c;
    if (place != last) {
        columns_.col(place) = columns_.col(last);
        w_[place] = w_[last];
        inverse_.row(place).head(k) = inverse_.row(last).head(k).eval();
        inverse_.col(place).head(k) = inverse_.col(last).head(k).eval();
        support_[static_cast<size_t>(place)] = support_.back();
    }
    support_.pop_back();
    work_ += static_cast<double>(q_.size() * k);
}

double Walk::best_gain(Index place) {
    if (place < 0) {
        gain_ = 0.5F * beta_.square() / h_;
    } else {
        const double c = inverse_(place, place);
        const auto shift = static_cast<float>(w_[place] / c), inverse_c = static_cast<float>(1 / c);
        const auto q = columns_.col(place);
        gain_ = 0.5F * (beta_ + shift * q).square() / (h_ + inverse_c * q.square());
    }
    return gain_.size() == 0 ? 0.0 : static_cast<double>(gain_.maxCoeff());
}

Index Walk::strongest(double gain) const {
    const auto wanted = static_cast<float>(gain);
    return std::find(gain_.data(), gain_.data() + gain_.size(), wanted) - gain_.data();
}

Walk::Move Walk::best_move(const ConstFix& fix) {
    const auto k = static_cast<Index>(support_.size());
    Move best{-least_gain * std::abs(value_)};
    double gain = 0;
    if (k < q_.k) {
        const double here = best_gain(-1);
        if (q_.lambda - here < best.change) {
            best = {q_.lambda - here, -1, 0};
            gain = here;
        }
    }
    for (Index a = 0; a < k; ++a) {
        if (fix[support_[static_cast<size_t>(a)]] > 0) continue;
        const double c = inverse_(a, a), cost = 0.5 * w_[a] * w_[a] / c;
        if (cost - q_.lambda < best.change) best = {cost - q_.lambda, a, -1};
        const double here = best_gain(a);
        // A difference of the two has their rounding errors.
        if (cost - here < best.change && here - cost > least_gain * cost) {
            best = {cost - here, a, 0};
            gain = here;
        }
    }
    work_ += static_cast<double>(q_.size() * (k + 1));
    if (best.enter >= 0) {
        best_gain(best.leave);
        best.enter = strongest(gain);
        if (best.enter >= q_.size()) return {};
    }
    return best;
}

double Walk::descend(const ConstFix& fix, std::vector<Index>& support, int max_moves, const Alarm& alarm) {
    if (!begin(fix, support, alarm)) return INFINITY;
    for (int move = 0; move < max_moves && !alarm.rings(); ++move) {
        const Move best = best_move(fix);
        if (best.leave < 0 && best.enter < 0) break;
        if (best.leave >= 0) drop(best.leave);
        if (best.enter >= 0) add(best.enter);
    }
    support = support_;
    std::sort(support.begin(), support.end());
    return value_;
}

}  // namespace parsifal
