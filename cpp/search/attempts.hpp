// How often going through a node's completions has closed it, by the number of places left: where it never does, it is
// tried now and then only.
#pragma once

#include <array>
#include <atomic>

#include "bound/completions.hpp"

namespace parsifal {

class Attempts {
  public:
    // Whether a node with so much room is worth a try, after so many nodes of the tree.
    bool worth(Index room, double nodes) {
        // A small tree is done before the correlations of all columns are sorted.
        if (nodes < 50 || room < 1 || room >= CorrelationTable::most_room) return false;
        Count& at = counts_[static_cast<size_t>(room)];
        const int asked = at.asked++;
        return 8 * (at.closed + 2) > at.tried || asked % 64 == 0;
    }
    void learn(Index room, bool closed) {
        Count& at = counts_[static_cast<size_t>(room)];
        ++at.tried;
        at.closed += closed;
    }

  private:
    struct Count {
        std::atomic<int> asked{0}, tried{0}, closed{0};
    };
    std::array<Count, CorrelationTable::most_room> counts_;
};

}  // namespace parsifal
