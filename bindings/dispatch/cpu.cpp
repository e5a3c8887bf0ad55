// Which generation of x86-64 this processor is: 1, or 3 with AVX2, or 4 with AVX-512. Asked of the processor itself, so
// that an emulator's answer counts and not its host's. In the limited API of 3.10: one file for all interpreters.
#include <Python.h>

namespace {

PyObject* level(PyObject*, PyObject*) {
    __builtin_cpu_init();
    // The x86-64 psABI's lists, as far as they bear on vector code; a processor with these has the rest.
    const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
                    __builtin_cpu_supports("bmi2");
    const bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                    __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                    __builtin_cpu_supports("avx512vl");
    return PyLong_FromLong(v4 ? 4 : v3 ? 3 : 1);
}

PyMethodDef methods[] = {{"level", level, METH_NOARGS, "The processor's generation of x86-64: 1, 3 or 4."},
                         {nullptr, nullptr, 0, nullptr}};
PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_cpu", nullptr, 0, methods, nullptr, nullptr, nullptr, nullptr,
};

}  // namespace

PyMODINIT_FUNC PyInit__cpu() { return PyModuleDef_Init(&definition); }
