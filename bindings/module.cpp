#include "alarm.hpp"
#include "bindings.hpp"

NB_MODULE(_core, m) {
    m.doc() = "Compiled core of Parsifal: arrays in, arrays out, the GIL released while it computes.";
    nanobind::exception<parsifal::TimeUp>(m, "TimeUp");
    bind_scan(m);
    bind_relaxation(m);
    bind_search(m);
}
