// Which column to branch on.
#pragma once

#include <mutex>
#include <vector>

#include "quadratic.hpp"

namespace parsifal {

struct Candidate {
    Index position;  // in the frame
    Index column;    // in the root problem
    double fraction;
    double v;
};

enum class Branching { largest = 0, fractional = 1, strong = 2, pseudo = 3 };

// Average gains of the dual bound seen when a column was branched on, shared by all workers.
class PseudoCosts {
  public:
    explicit PseudoCosts(Index columns);
    void learn(const Candidate& candidate, double gain_in, double gain_out);
    Candidate choose(const std::vector<Candidate>& candidates, Branching rule) const;
    // For a search that is put aside.
    std::vector<double> save() const;
    void restore(const std::vector<double>& saved);
    std::vector<Candidate> shortlist(const std::vector<Candidate>& candidates, size_t most) const;

  private:
    double score(const Candidate& candidate) const;
    mutable std::mutex mutex_;
    VectorXd in_, out_, count_;
    double sum_in_ = 0, sum_out_ = 0, total_ = 0;
};

}  // namespace parsifal
