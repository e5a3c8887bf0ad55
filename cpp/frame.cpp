#include "frame.hpp"

#include <cmath>

namespace parsifal {

std::shared_ptr<Frame> make_frame(const Quadratic& root, std::vector<Index> columns, const ConstVector& w,
                                  const ConstVector& diagonal) {
    auto frame = std::make_shared<Frame>();
    frame->columns = std::move(columns);
    const Index m = frame->size();
    frame->diagonal = diagonal;
    frame->scale = (1 + root.gamma * diagonal.array()).sqrt().inverse();

    // LS and its gradient at w, from the root's reference point.
    VectorXd whole = VectorXd::Zero(root.size()), beta;
    for (Index a = 0; a < m; ++a) whole[frame->columns[static_cast<size_t>(a)]] = w[a];
    root.gradient(whole, beta);
    frame->ls0 = root.least_squares(whole, beta) - 0.5 * diagonal.dot(w.cwiseAbs2());

    const bool whole_gram = m == root.size() && diagonal.isZero(0);
    if (whole_gram)
        frame->whole = &root.gram;
    else
        frame->gram.resize(m, m);
    frame->beta0.resize(m);
    for (Index b = 0; b < m; ++b) {
        const Index j = frame->columns[static_cast<size_t>(b)];
        frame->beta0[b] = frame->scale[b] * (beta[j] + diagonal[b] * w[b]);
        if (whole_gram) continue;
        const double* column = root.gram.col(j).data();
        for (Index a = 0; a < m; ++a)
            frame->gram(a, b) = column[frame->columns[static_cast<size_t>(a)]] * (frame->scale[a] * frame->scale[b]);
        frame->gram(b, b) = (column[j] - diagonal[b]) * (frame->scale[b] * frame->scale[b]);
    }
    frame->v0 = w.cwiseQuotient(frame->scale);
    if (root.rounding.norm.size() > 0) {
        const VectorXd change = whole - root.v0;
        frame->rounding = root.rounding.moved(change.cwiseAbs().dot(root.rounding.norm), (change.array() != 0).count());
        frame->rounding.norm = root.rounding.norm(frame->columns).eval();
        if (!diagonal.isZero(0))
            frame->rounding =
                frame->rounding.tightened(frame->scale, w.cwiseAbs().dot(root.rounding.norm(frame->columns)));
    }
    return frame;
}

}  // namespace parsifal
