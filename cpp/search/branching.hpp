// Which column to branch on.
#pragma once

#include <mutex>
#include <vector>

#include "bound/quadratic.hpp"

namespace parsifal {

struct Candidate {
    Index position;  // in the frame
    Index column;    // in the root problem
    double fraction;
    double v;
};

enum class Branching { largest = 0, fractional = 1, strong = 2, pseudo = 3 };

// Sums of the gains of the dual bound per unit of s, for each column and over all of them, and how many were seen.
struct SeenGains {
    VectorXd in, out, count;
    double sum_in = 0, sum_out = 0, total = 0;
};

// Average gains of the dual bound seen when a column was branched on, shared by all workers.
class PseudoCosts {
  public:
    explicit PseudoCosts(Index columns);
    void learn(const Candidate& candidate, double gain_in, double gain_out);
    Candidate choose(const std::vector<Candidate>& candidates, Branching rule) const;
    // For a search that is saved.
    SeenGains save() const;
    void restore(const SeenGains& saved);
    std::vector<Candidate> shortlist(const std::vector<Candidate>& candidates, size_t most) const;

  private:
    double score(const Candidate& candidate) const;
    mutable std::mutex mutex_;
    SeenGains seen_;
};

}  // namespace parsifal
