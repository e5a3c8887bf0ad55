// One function per area of the core; module.cpp calls them all.
#pragma once

#include <nanobind/nanobind.h>

void bind_scan(nanobind::module_& m);
void bind_relaxation(nanobind::module_& m);
void bind_search(nanobind::module_& m);
