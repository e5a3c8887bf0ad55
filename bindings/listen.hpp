// Ctrl-C during a call of the core: asked for with the GIL, now and then.
#pragma once

#include <nanobind/nanobind.h>

inline void listen() {
    const nanobind::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals() != 0) nanobind::raise_python_error();
}
