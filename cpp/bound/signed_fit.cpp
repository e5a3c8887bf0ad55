#include "bound/signed_fit.hpp"

#include <algorithm>
#include <cmath>

#include "base/dense.hpp"
#include "bound/rounding.hpp"

namespace parsifal {

namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using Position = Eigen::Index;

// Lawson and Hanson's active-set method: w on the columns that are not held at zero, until none would leave it.
class Active {
  public:
    Active(const MatrixXd& gram, const VectorXd& b, const std::vector<signed char>& sign)
        : gram_(gram), b_(b), sign_(sign), active_(sign.size()), w_(VectorXd::Zero(b.size())) {
        for (size_t a = 0; a < sign.size(); ++a) active_[a] = sign[a] == 0;
    }

    const VectorXd& solve() {
        if (b_.size() == 0) return w_;
        w_ = fit();
        for (Position step = 0; step < 3 * b_.size() + 10; ++step) {
            const VectorXd pull = b_ - gram_ * w_;
            Position enter = -1;
            double most = 1e-14 * b_.cwiseAbs().maxCoeff();
            for (Position a = 0; a < b_.size(); ++a)
                if (!active(a) && own(a, pull[a]) > most) {
                    most = own(a, pull[a]);
                    enter = a;
                }
            if (enter < 0) break;
            active_[static_cast<size_t>(enter)] = 1;
            walk();
        }
        return w_;
    }

  private:
    bool active(Position a) const { return active_[static_cast<size_t>(a)]; }
    double own(Position a, double value) const { return sign_[static_cast<size_t>(a)] * value; }
    bool wrong(Position a, double value) const { return sign_[static_cast<size_t>(a)] != 0 && !(own(a, value) > 0); }

    VectorXd fit() const {
        std::vector<Position> part;
        for (Position a = 0; a < b_.size(); ++a)
            if (active(a)) part.push_back(a);
        VectorXd w = VectorXd::Zero(b_.size());
        if (part.empty()) return w;
        w(part) = solve_symmetric(gram_(part, part), b_(part));
        return w;
    }

    // Towards the fit of the active columns, as far as the signs allow, and on from there without those that stop it.
    void walk() {
        for (;;) {
            const VectorXd z = fit();
            double part = 1;
            for (Position a = 0; a < b_.size(); ++a)
                if (active(a) && wrong(a, z[a])) part = std::min(part, share(a, z[a]));
            if (part >= 1) {
                w_ = z;
                return;
            }
            bool dropped = false;
            for (Position a = 0; a < b_.size(); ++a) {
                if (!active(a)) continue;
                const bool stops = wrong(a, z[a]) && share(a, z[a]) <= part;
                w_[a] = stops ? 0 : w_[a] + part * (z[a] - w_[a]);
                if (stops) active_[static_cast<size_t>(a)] = 0;
                dropped |= stops;
            }
            if (!dropped) return;
        }
    }
    // Which part of the way to z its sign allows.
    double share(Position a, double z) const { return w_[a] == z ? 0.0 : std::max(0.0, w_[a] / (w_[a] - z)); }

    const MatrixXd& gram_;
    const VectorXd& b_;
    const std::vector<signed char>& sign_;
    std::vector<char> active_;
    VectorXd w_;
};

}  // namespace

SignedFit signed_fit(const MatrixXd& gram, const VectorXd& b, double yy, const std::vector<signed char>& sign,
                     double eps) {
    SignedFit out;
    const Position k = b.size();
    const auto size = static_cast<double>(k);
    MatrixXd factor = gram, inverse = MatrixXd::Identity(k, k);
    if (k > 0) {
        if (!cholesky(factor)) return out;
        solve_lower(factor, inverse);
    }
    // What the sums below round by comes to what the products are off by already, and so does the factorisation's
    // error.
    const double off = eps + 16 * (size + 8) * unit_roundoff;
    const double least = (k > 0 ? 1 / inverse.squaredNorm() : 1.0) - 2 * size * off;
    if (!(least > 2 * size * off)) return out;
    const VectorXd w = Active(gram, b, sign).solve();
    if (!w.allFinite()) return out;
    const double reach = std::sqrt(yy) + w.lpNorm<1>();
    const VectorXd pull = b - gram * w;
    double slope = 0;
    for (Position a = 0; a < k; ++a) {
        const signed char own = sign[static_cast<size_t>(a)];
        if (own != 0 && own * w[a] < 0) return out;
        const double up = own != 0 && w[a] == 0 ? std::max(0.0, own * pull[a]) : std::abs(pull[a]);
        slope += (up + off * reach) * (up + off * reach);
    }
    out.value = 0.5 * std::max(0.0, yy - w.dot(b) - w.dot(pull));
    out.charge = 0.5 * off * reach * reach + 0.5 * slope / least;
    out.known = std::isfinite(out.value) && std::isfinite(out.charge);
    return out;
}

}  // namespace parsifal
