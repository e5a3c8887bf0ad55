// Residuals with twice the digits of a double.
#pragma once

#include <cstddef>

namespace parsifal {

// y - columns w, rounded once at the end (Ogita, Rump and Oishi's Dot2); columns one after the other, n entries each.
// A file of its own, compiled so that no product is fused with a sum: its error would then be another.
void precise_residual(const double* y, const double* columns, const double* w, std::ptrdiff_t n, std::ptrdiff_t k,
                      double* out);

}  // namespace parsifal
