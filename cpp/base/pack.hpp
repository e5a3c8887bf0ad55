// Strided entries of any storage type, converted to a short run of doubles.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "read/scan.hpp"

namespace parsifal {

struct Half {
    std::uint16_t bits;
};

template <class S>
double to_double(S value) {
    return static_cast<double>(value);
}

// A half's exponent and fraction, moved to a double's place, stand for its value times 2^-1008 (subnormals
// too).
template <>
inline double to_double(Half half) {
    const std::uint64_t magnitude = half.bits & 0x7fffu;
    const std::uint64_t special = magnitude >= 0x7c00u ? std::uint64_t{0x7ff} << 52 : 0;
    const double scaled = std::bit_cast<double>(magnitude << 42) * 0x1p1008;
    const std::uint64_t sign = static_cast<std::uint64_t>(half.bits & 0x8000u) << 48;
    return std::bit_cast<double>(std::bit_cast<std::uint64_t>(scaled) | special | sign);
}

template <class S>
void pack(const std::byte* src, std::ptrdiff_t stride, std::size_t count, double* out) {
    S entry;
    if (stride == static_cast<std::ptrdiff_t>(sizeof(S))) {
        for (std::size_t i = 0; i < count; ++i) {
            std::memcpy(&entry, src + i * sizeof(S), sizeof(S));
            out[i] = to_double(entry);
        }
        return;
    }
    for (std::size_t i = 0; i < count; ++i, src += stride) {
        std::memcpy(&entry, src, sizeof(S));
        out[i] = to_double(entry);
    }
}

using PackFn = void (*)(const std::byte*, std::ptrdiff_t, std::size_t, double*);

inline PackFn packer(DType dtype) {
    switch (dtype) {
        case DType::f64:
            return pack<double>;
        case DType::f32:
            return pack<float>;
        case DType::f16:
            return pack<Half>;
        case DType::i8:
            return pack<std::int8_t>;
        case DType::i16:
            return pack<std::int16_t>;
        case DType::i32:
            return pack<std::int32_t>;
        case DType::i64:
            return pack<std::int64_t>;
        case DType::u8:
            return pack<std::uint8_t>;
        case DType::u16:
            return pack<std::uint16_t>;
        case DType::u32:
            return pack<std::uint32_t>;
        case DType::u64:
            return pack<std::uint64_t>;
    }
    return nullptr;
}

inline std::size_t item_size(DType dtype) {
    switch (dtype) {
        case DType::i8:
        case DType::u8:
            return 1;
        case DType::f16:
        case DType::i16:
        case DType::u16:
            return 2;
        case DType::f32:
        case DType::i32:
        case DType::u32:
            return 4;
        default:
            return 8;
    }
}

}  // namespace parsifal
