#include <nanobind/stl/string.h>

#include <string>

#include "base/alarm.hpp"
#include "bindings.hpp"
#include "read/scan_kernels.hpp"

namespace {

std::string compiler() {
#if defined(__clang__)
    return "clang " + std::to_string(__clang_major__) + "." + std::to_string(__clang_minor__);
#elif defined(__GNUC__)
    return "GCC " + std::to_string(__GNUC__) + "." + std::to_string(__GNUC_MINOR__);
#elif defined(_MSC_VER)
    return "MSVC " + std::to_string(_MSC_VER);
#else
    return "an unknown compiler";
#endif
}

}  // namespace

NB_MODULE(_core, m) {
    m.doc() = "Compiled core of Parsifal: arrays in, arrays out, the GIL released while it computes.";
    m.attr("compiler") = compiler();
    m.attr("vector_bits") = 8 * sizeof(parsifal::kernel::Vec);
    nanobind::exception<parsifal::TimeUp>(m, "TimeUp");
    bind_scan(m);
    bind_products(m);
    bind_dual(m);
    bind_quadratic(m);
    bind_groups(m);
    bind_search(m);
    bind_few_columns(m);
}
