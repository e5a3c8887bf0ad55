#include "bound/restarts.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace parsifal {

namespace {

constexpr int most_moves = 100;
// Values within this part of each other are those of one support.
constexpr double same_part = 1e-9, same_in_single = 1e-4;
// Of the columns that explain most by themselves so many are drawn from, or so many times k.
constexpr Index likely_columns = 100, likely_times = 4;

}  // namespace

Restarts::Restarts(const Survivors& problem, const Alarm& alarm, Patience patience, int seed)
    : q_(problem),
      alarm_(alarm),
      local_(problem, alarm),
      patience_(patience),
      random_(20170917U + static_cast<unsigned>(seed)) {
    if (!q_.rules) walk_ = std::make_unique<Walk>(q_);
    const VectorXd r = q_.origin(), squares = q_.squares();
    const Index most = std::min(q_.size(), std::max(likely_columns, likely_times * std::min(q_.k, q_.size())));
    likely_.resize(static_cast<size_t>(q_.size()));
    std::iota(likely_.begin(), likely_.end(), Index{0});
    auto alone = [&](Index j) { return r[j] * r[j] / std::max(squares[j] + 1 / q_.gamma, 1e-300); };
    std::partial_sort(likely_.begin(), likely_.begin() + most, likely_.end(), [&](Index a, Index b) {
        const double x = alone(a), y = alone(b);
        return x != y ? x > y : a < b;
    });
    likely_.resize(static_cast<size_t>(most));
}

void Restarts::know(double value) {
    if (!(value < best_value_ - same_part * std::abs(value))) return;
    best_value_ = value;
    hits_ = 0;
}

// Adds `count` columns of the pool to the support; false if side constraints allow none like it. The smallest of
// -log(u) / weight are a sample without replacement.
bool Restarts::draw(const ConstFix& fix, const ConstVector& s, const std::vector<Index>& pool, size_t count, bool alike,
                    std::vector<Index>& support) {
    count = std::min(count, pool.size());
    keys_.resize(pool.size());
    for (size_t a = 0; a < pool.size(); ++a) {
        const double u = (static_cast<double>(random_() >> 11) + 0.5) * 0x1.0p-53;
        keys_[a] = {-std::log(u) / (alike ? 1.0 : s[pool[a]]), pool[a]};
    }
    std::partial_sort(keys_.begin(), keys_.begin() + static_cast<std::ptrdiff_t>(count), keys_.end());
    for (size_t a = 0; a < count; ++a) support.push_back(keys_[a].second);
    std::sort(support.begin(), support.end());
    if (!q_.rules || q_.rules->rows.allow(support)) return true;
    VectorXd weight = VectorXd::Zero(q_.size());
    for (size_t a = 0; a < count; ++a) weight[keys_[a].second] = static_cast<double>(count - a);
    return local_.mend(fix, weight, support);
}

double Restarts::improve(const ConstFix& fix, std::vector<Index>& support) {
    if (walk_) {
        const double about = walk_->descend(fix, support, most_moves, alarm_);
        if (about > best_value_ + same_in_single * std::abs(best_value_)) return about;
    }
    const double value = local_.improve(fix, support, most_moves);
    std::sort(support.begin(), support.end());
    return value;
}

double Restarts::run(const ConstFix& fix, const ConstVector& s, int count, std::vector<Index>& best) {
    std::vector<Index> forced, pool, likely;
    double total = 0;
    for (Index j = 0; j < q_.size(); ++j) {
        if (fix[j] > 0) forced.push_back(j);
        if (fix[j] == 0 && s[j] > 0) {
            pool.push_back(j);
            total += s[j];
        }
    }
    for (const Index j : likely_)
        if (fix[j] == 0) likely.push_back(j);
    // As many as the relaxation takes in all: with a penalty, k says little about the size of a good support.
    const auto places = static_cast<size_t>(std::max<Index>(0, q_.room(fix)));
    const size_t size = std::min(places, static_cast<size_t>(std::lround(total)) + 1);
    if (best_value_ == INFINITY) best = forced;
    for (int start = 0; start < count && !settled() && !(start > 0 && alarm_.rings()); ++start) {
        std::vector<Index> support = forced;
        const int way = started_++ % 8;
        const bool by_s = way % 4 == 1 && !pool.empty();
        if (!draw(fix, s, by_s ? pool : likely, size, way != 1, support)) continue;
        const double value = improve(fix, support);
        const double same = same_part * std::abs(value);
        if (value < best_value_ - same) {
            best_value_ = value;
            best = support;
            hits_ = 0;
        }
        // The draws by s are much alike: that they end in one place says little.
        if (value <= best_value_ + same && !by_s) ++hits_;
    }
    return best_value_;
}

}  // namespace parsifal
