#include "bound/survivors.hpp"

namespace parsifal {

VectorXd GramSurvivors::origin() const {
    VectorXd beta;
    q_.gradient(VectorXd::Zero(q_.size()), beta);
    return beta;
}

Surroundings GramSurvivors::around(const std::vector<Index>& columns, const ConstVector& w) const {
    Surroundings here;
    VectorXd whole = VectorXd::Zero(q_.size()), beta;
    for (size_t a = 0; a < columns.size(); ++a) whole[columns[a]] = w[static_cast<Index>(a)];
    q_.gradient(whole, beta);
    here.ls = q_.least_squares(whole, beta);
    here.beta = beta(columns);
    if (q_.rounding.norm.size() > 0) {
        const VectorXd change = whole - q_.v0;
        here.rounding = q_.rounding.moved(change.cwiseAbs().dot(q_.rounding.norm), (change.array() != 0).count());
        here.rounding.norm = q_.rounding.norm(columns).eval();
    }
    return here;
}

double GramSurvivors::least_squares(const std::vector<Index>& support, const ConstVector& w) const {
    // LS(w) = ls0 - beta0'd + 1/2 d'Gd with d = w - v0, which has few nonzeros.
    VectorXd step = -q_.v0;
    for (size_t a = 0; a < support.size(); ++a) step[support[a]] += w[static_cast<Index>(a)];
    std::vector<Index> moved;
    for (Index j = 0; j < q_.size(); ++j)
        if (step[j] != 0) moved.push_back(j);
    double value = q_.ls0;
    for (const Index j : moved) {
        double pull = 0;
        const double* column = q_.gram.col(j).data();
        for (const Index i : moved) pull += column[i] * step[i];
        value += step[j] * (0.5 * pull - q_.beta0[j]);
    }
    return value;
}

}  // namespace parsifal
