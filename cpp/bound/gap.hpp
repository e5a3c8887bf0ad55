// What a search need not look at (the rule of src/parsifal/problem/gap.py; there, too, what counts as proven).
#pragma once

#include <algorithm>
#include <cmath>

namespace parsifal {

struct Gap {
    double relative = 1e-6;
    double absolute = 0;  // rounding level of the data

    // Nothing that is not below this is looked for, once a support of this objective is known.
    double cutoff(double objective) const { return objective - std::max(relative * std::abs(objective), absolute); }
};

}  // namespace parsifal
