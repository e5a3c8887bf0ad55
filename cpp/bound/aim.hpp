// What the relaxation of a node is asked for, and what it answers.
#pragma once

#include <algorithm>
#include <cmath>

namespace parsifal {

// A relaxation stops when primal - bound <= tolerance, when bound > cutoff, or, with slack > 0, when primal - bound <=
// slack (cutoff - primal): the node cannot be pruned, so it must be branched on.
struct Aim {
    double cutoff;
    double tolerance;
    double slack = 0;
    int max_solves;

    // Converged, or near enough to know that this node must be branched on.
    bool reached(double primal, double bound) const {
        const double enough = slack > 0 ? std::max(tolerance, slack * (cutoff - primal)) : tolerance;
        return primal - bound <= enough;
    }
};

enum class Stop { converged, cutoff, stalled };

struct RelaxationResult {
    Stop stop = Stop::stalled;
    double bound = -INFINITY;  // best D(v) seen, less what rounding can be worth
    double primal = INFINITY;  // value of the relaxation at the last v: bound <= relaxation <= primal
    double theta = INFINITY;   // 1 / tau
    int solves = 0;            // linear systems
};

}  // namespace parsifal
