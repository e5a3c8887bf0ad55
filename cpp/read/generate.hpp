// Standard normals from a counter: entry (i, j) depends on the seed, i and j alone, so any part of a matrix of any size
// can be made at any time, by any thread, in blocks of any size.
//
// Philox 4x32 (Salmon et al., 2011) with seven rounds, the fewest that pass BigCrush, turns the counter into four
// words; Box-Muller in single precision turns each pair of words into two normals, the largest of which is 6.66. Only
// operations that IEEE 754 rounds correctly are used, and none are contracted, so every machine gives the same bits.
#pragma once

#include <cstddef>
#include <cstdint>

namespace parsifal {

// Rows are made in groups of this many.
constexpr std::size_t kGroupRows = 64;

// out = normals of column j, rows [64 group, 64 (group + count)); where `before` is given,
// out = rho before + innovation normals (`out` may be `before`).
void generate_column(std::uint64_t seed, std::uint64_t group, std::size_t count, std::uint64_t j, const float* before,
                     float rho, float innovation, float* out);

// The four words of a counter, for tests against the published values.
void philox(const std::uint32_t counter[4], const std::uint32_t key[2], std::uint32_t out[4]);

}  // namespace parsifal
