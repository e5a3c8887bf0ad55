// A worker takes nodes from the tree, branches, solves the children and hands them back.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "relaxation.hpp"
#include "swap.hpp"
#include "tree.hpp"

namespace parsifal {

class Worker {
  public:
    Worker(Tree& tree, int id) : tree_(tree), id_(id) {}

    void loop();

    // Solves one node. Returns it if it must be branched on; null if its bound passes the cutoff.
    NodePtr evaluate(const std::shared_ptr<const Frame>& frame, Fixes fix, VectorXd start, int parent, Index column,
                     signed char side, int depth, double parent_bound);

  private:
    void enter(const std::shared_ptr<const Frame>& frame);
    std::vector<NodePtr> expand(NodePtr node);
    NodePtr reframe(NodePtr node);
    Candidate pick(const Node& node, const VectorXd& v);
    Fixes decide(const Node& node, Index position, signed char side) const;
    bool overfull(const Fixes& fix) const;
    bool integral(const Fixes& fix) const;
    void offer_rounding(const Fixes& fix);
    void collect_candidates(Node& node) const;
    void write_record(Node& node, Record entry);

    // In a wide frame the children are solved on the few columns near the threshold first, and those that turn out to
    // be missing; what comes out is a start for the solve on all columns, which mostly has nothing left to do.
    void focus(const Node& node, const VectorXd& v);
    void gather_focus();
    double threshold(const VectorXd& beta, const Fixes& fix);
    VectorXd focused_start(const Fixes& fix, const VectorXd& start, double tolerance);

    Tree& tree_;
    int id_;
    std::shared_ptr<const Frame> frame_;
    std::unique_ptr<Quadratic> quadratic_;
    std::unique_ptr<Relaxation> relaxation_;
    std::unique_ptr<LocalSearch> heuristic_;

    struct Focus {
        std::vector<Index> columns;
        VectorXd v, beta;  // the node's point, on all columns of the frame
        double ls = 0;
        MatrixXd gram;
        VectorXd v0, beta0;
        std::unique_ptr<Quadratic> quadratic;
        std::unique_ptr<Relaxation> relaxation;
    };
    std::unique_ptr<Focus> focus_;

    std::vector<double> scratch_;
    std::vector<std::pair<double, double>> pairs_;
    double solves_ = 0;
    int rounds_ = 0;
};

}  // namespace parsifal
