// A frame: the columns that a subtree still has to decide, as a small problem of their own.
//
// Nodes share the frame of an ancestor until enough columns have been fixed out; then a new, smaller frame is gathered
// from the root's Gram matrix around the node's own point, and tightened if the root could not be and this can.
#pragma once

#include <memory>
#include <vector>

#include "quadratic.hpp"

namespace parsifal {

using Fixes = Eigen::Matrix<signed char, Eigen::Dynamic, 1>;

struct Frame {
    std::vector<Index> columns;  // positions in the root's problem
    VectorXd diagonal;           // tightening, zero if none
    VectorXd scale;              // w = scale * v
    MatrixXd gram;               // tightened; empty where it is the root's own
    VectorXd v0, beta0;
    double ls0 = 0;
    bool tightened = false;  // whether a diagonal has been looked for
    int id = 0;

    Quadratic problem(const Quadratic& root) const {
        return {gram.size() ? ConstMatrix(gram) : root.gram, v0, beta0, ls0, root.gamma, root.lambda, root.k};
    }
    Index size() const { return static_cast<Index>(columns.size()); }
};

// Gathers `columns` of the root problem around the point w (given on those columns), with a diagonal (on those
// columns).
std::shared_ptr<Frame> make_frame(const Quadratic& root, std::vector<Index> columns, const ConstVector& w,
                                  const ConstVector& diagonal);

}  // namespace parsifal
