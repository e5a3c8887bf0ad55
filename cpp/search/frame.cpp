#include "search/frame.hpp"

#include <cmath>

namespace parsifal {

std::shared_ptr<Frame> make_frame(const Survivors& root, std::vector<Index> columns, const ConstVector& w,
                                  const ConstVector& diagonal) {
    auto frame = std::make_shared<Frame>();
    frame->columns = std::move(columns);
    const Index m = frame->size();
    frame->diagonal = diagonal;
    frame->gamma = root.gamma;
    if (root.rules) frame->rules = root.rules->take(frame->columns);
    if (std::isfinite(root.gamma)) {
        frame->scale = (1 + root.gamma * diagonal.array()).sqrt().inverse();
    } else if (m > 0 && diagonal.minCoeff() > 0) {
        // Without a ridge the diagonal is all there is: in these units it is that of gamma = 1.
        frame->scale = diagonal.cwiseSqrt().cwiseInverse();
        frame->gamma = 1;
    } else {
        frame->scale = VectorXd::Ones(m);
        frame->diagonal.setZero();
    }

    if (m > wide_frame && frame->diagonal.isZero(0) && root.held()) {
        frame->held = root.held();
        frame->v0 = w;
        return frame;
    }
    const Surroundings here = root.around(frame->columns, w);
    const VectorXd& taken = frame->diagonal;
    frame->ls0 = here.ls - 0.5 * taken.dot(w.cwiseAbs2());
    frame->beta0 = frame->scale.cwiseProduct(here.beta + taken.cwiseProduct(w));
    frame->v0 = w.cwiseQuotient(frame->scale);
    frame->rounding = here.rounding;
    if (m == root.size() && taken.isZero(0) && root.quadratic()) {
        frame->whole = &root.quadratic()->gram;
        return frame;
    }
    frame->gram = root.among(frame->columns);
    if (taken.isZero(0)) return frame;
    for (Index b = 0; b < m; ++b) {
        const double square = frame->gram(b, b);
        for (Index a = 0; a < m; ++a) frame->gram(a, b) *= frame->scale[a] * frame->scale[b];
        frame->gram(b, b) = (square - taken[b]) * (frame->scale[b] * frame->scale[b]);
    }
    if (here.rounding.norm.size() > 0)
        frame->rounding = here.rounding.tightened(frame->scale, w.cwiseAbs().dot(here.rounding.norm));
    return frame;
}

}  // namespace parsifal
