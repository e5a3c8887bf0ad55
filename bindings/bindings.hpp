// One function per area of the core; module.cpp calls them all.
#pragma once

#include <nanobind/nanobind.h>

void bind_scan(nanobind::module_& m);
void bind_products(nanobind::module_& m);
void bind_dual(nanobind::module_& m);
void bind_quadratic(nanobind::module_& m);
void bind_groups(nanobind::module_& m);
void bind_search(nanobind::module_& m);
void bind_few_columns(nanobind::module_& m);
