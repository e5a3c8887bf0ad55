// The paper's data without storing them: rows are N(0, Sigma) with Sigma_ij = rho^|i-j|, made when they are read.
//
// Along a row x_j = rho x_{j-1} + sqrt(1 - rho^2) z_j. The recursion starts anew every `width` columns, at
// x = z, `burn` columns ahead of the first that counts; what it forgets by then, rho^burn, is below the rounding of a
// float. So the value of an entry depends on the seed and its place alone, and to get at a column costs at most
// width + burn others.
#pragma once

#include <cstdint>

#include "read/scan.hpp"

namespace parsifal {

// Rows [lo, hi) of n by p; row lo is row 0 of v.
struct SyntheticMatrix {
    std::uint64_t seed;
    float rho, innovation;
    std::size_t burn, width;
    std::size_t n, p;
    std::size_t lo, hi;
};

bool scan(const SyntheticMatrix& x, const ScanInput& in, const ScanOutput& out, const Team& team);
void gather(const SyntheticMatrix& x, const std::int64_t* idx, std::size_t m, double* out, const Team& team);

}  // namespace parsifal
