#include "bound/box_model.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace parsifal {

namespace {

constexpr double tiny = 1e-12;

// The state of one solve: z, the model's gradient r there, which entries are off their bounds, whether the budget is
// used up.
class BoxModel {
  public:
    BoxModel(const MatrixXd& H, const VectorXd& g, const VectorXd& x, double room)
        : H_(H), z_(x), r_(g), room_(room), size_(g.cwiseAbs().maxCoeff()), loose_(static_cast<size_t>(x.size())) {
        for (Index i = 0; i < x.size(); ++i) loose_[static_cast<size_t>(i)] = x[i] > tiny && x[i] < 1 - tiny;
        full_ = x.sum() >= room * (1 - tiny);
    }

    VectorXd solve() {
        const Index most = 8 * z_.size() + 20;
        for (Index iteration = 0; iteration < most; ++iteration) {
            free_.clear();
            for (Index i = 0; i < z_.size(); ++i)
                if (loose_[static_cast<size_t>(i)]) free_.push_back(i);
            if (!direction()) break;
            if (!free_.empty() && p_.cwiseAbs().maxCoeff() > 1e-10 && move()) continue;
            if (!release()) break;
        }
        return z_.cwiseMax(0.0).cwiseMin(1.0);
    }

  private:
    // To the minimum over the loose entries, along the budget if it is used up.
    bool direction() {
        mu_ = 0;
        const auto m = static_cast<Index>(free_.size());
        p_.resize(m);
        if (m == 0) return true;
        MatrixXd factor = H_(free_, free_);
        if (!cholesky(factor)) return false;
        p_ = -r_(free_);
        solve_cholesky(factor, p_);
        if (full_) {
            VectorXd u = VectorXd::Constant(m, -1.0);
            solve_cholesky(factor, u);
            mu_ = -p_.sum() / u.sum();
            p_ += mu_ * u;
        }
        return p_.allFinite();
    }

    // Along p until the minimum, a bound or the budget; true if a constraint stopped it.
    bool move() {
        const auto m = static_cast<Index>(free_.size());
        double t = 1;
        VectorXd ahead(m);
        for (Index b = 0; b < m; ++b) {
            const double z = z_[free_[static_cast<size_t>(b)]];
            ahead[b] = p_[b] > 0 ? (1 - z) / p_[b] : p_[b] < 0 ? -z / p_[b] : INFINITY;
            t = std::min(t, ahead[b]);
        }
        const double growth = p_.sum(), total = z_.sum();
        bool hits_budget = false;
        if (!full_ && growth > 0 && total + t * growth >= room_) {
            t = std::max(0.0, (room_ - total) / growth);
            hits_budget = true;
        }
        for (Index b = 0; b < m; ++b) {
            const Index i = free_[static_cast<size_t>(b)];
            z_[i] += t * p_[b];
            r_.noalias() += (t * p_[b]) * H_.col(i);
        }
        if (hits_budget) {
            full_ = true;
            return true;
        }
        if (t >= 1) return false;
        for (Index b = 0; b < m; ++b)
            if (ahead[b] <= t * (1 + tiny)) {
                const Index i = free_[static_cast<size_t>(b)];
                z_[i] = std::round(z_[i]);
                loose_[static_cast<size_t>(i)] = false;
            }
        return true;
    }

    // At the minimum for this set: which constraint is worth leaving? False if none is.
    bool release() {
        if (full_ && free_.empty()) {
            // Any multiplier between the pulls of the two bounds will do.
            double zero = 0, one = -INFINITY;
            for (Index i = 0; i < z_.size(); ++i)
                if (z_[i] < 0.5)
                    zero = std::min(zero, r_[i]);
                else
                    one = std::max(one, r_[i]);
            mu_ = std::isfinite(one) ? std::max(0.0, 0.5 * (-zero - one)) : 0.0;
        }
        if (full_ && mu_ < 0) {
            full_ = false;
            return true;
        }
        const Index worst = most_wrong(-1);
        if (worst < 0 || wrong(worst) <= 1e-9 * (std::abs(mu_) + size_)) return false;
        loose_[static_cast<size_t>(worst)] = true;
        if (full_ && free_.empty()) {
            // One loose entry cannot move along the budget: its best partner goes too.
            const Index other = most_wrong(z_[worst] < 0.5 ? 1 : 0);
            if (other >= 0) loose_[static_cast<size_t>(other)] = true;
        }
        return true;
    }

    double wrong(Index i) const { return z_[i] < 0.5 ? -(r_[i] + mu_) : r_[i] + mu_; }

    // The entry at a bound (`at`: 0 or 1, -1 either) that gains most by leaving it.
    Index most_wrong(int at) const {
        Index best = -1;
        for (Index i = 0; i < z_.size(); ++i) {
            if (loose_[static_cast<size_t>(i)] || (at >= 0 && (z_[i] < 0.5 ? 0 : 1) != at)) continue;
            if (best < 0 || wrong(i) > wrong(best)) best = i;
        }
        return best;
    }

    const MatrixXd& H_;
    VectorXd z_, r_, p_;
    double room_, size_, mu_ = 0;
    bool full_ = false;
    std::vector<bool> loose_;
    std::vector<Index> free_;
};

}  // namespace

VectorXd minimise_model(MatrixXd H, const VectorXd& g, const VectorXd& x, double room) {
    if (x.size() == 0) return x;
    const double largest = H.diagonal().maxCoeff();
    H.diagonal() += (1e-12 * H.diagonal().cwiseMax(1e-3 * largest)).cwiseMax(1e-300);
    return BoxModel(H, g, x, room).solve();
}

}  // namespace parsifal
