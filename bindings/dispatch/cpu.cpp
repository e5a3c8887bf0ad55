// Which generation of x86-64 this processor is: 1, or 3 with AVX2, or 4 with AVX-512. Asked of the processor itself, so
// that an emulator's answer counts and not its host's. In the limited API of 3.10: one file for all interpreters.
#include <Python.h>

#include <initializer_list>

#ifdef _MSC_VER
#include <immintrin.h>
#include <intrin.h>
#else
#include <cpuid.h>
#endif

namespace {

struct Leaf {
    unsigned eax, ebx, ecx, edx;
};

// What the processor says of itself; zeros where it has no such leaf.
Leaf cpuid(unsigned leaf) {
    Leaf out{};
#ifdef _MSC_VER
    int words[4];
    __cpuid(words, 0);
    if (static_cast<unsigned>(words[0]) < leaf) return out;
    __cpuidex(words, static_cast<int>(leaf), 0);
    out = {static_cast<unsigned>(words[0]), static_cast<unsigned>(words[1]), static_cast<unsigned>(words[2]),
           static_cast<unsigned>(words[3])};
#else
    __get_cpuid_count(leaf, 0, &out.eax, &out.ebx, &out.ecx, &out.edx);
#endif
    return out;
}

// The registers that the system saves when it changes threads; only these may be used.
unsigned saved_registers() {
#ifdef _MSC_VER
    return static_cast<unsigned>(_xgetbv(0));
#else
    unsigned low, high;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
#endif
}

bool has(unsigned word, std::initializer_list<int> bits) {
    for (const int bit : bits)
        if ((word >> bit & 1u) == 0) return false;
    return true;
}

PyObject* level(PyObject*, PyObject*) {
    // The x86-64 psABI's lists, as far as they bear on vector code; a processor with these has the rest.
    const unsigned base = cpuid(1).ecx, extended = cpuid(7).ebx;
    const bool fma = has(base, {12}), osxsave = has(base, {27}), avx = has(base, {28});
    const unsigned saved = osxsave ? saved_registers() : 0;
    const bool v3 = fma && avx && has(extended, {3, 5, 8}) && has(saved, {1, 2});        // bmi, avx2, bmi2
    const bool v4 = v3 && has(extended, {16, 17, 28, 30, 31}) && has(saved, {5, 6, 7});  // f, dq, cd, bw, vl
    return PyLong_FromLong(v4 ? 4 : v3 ? 3 : 1);
}

PyMethodDef methods[] = {{"level", level, METH_NOARGS, "The processor's generation of x86-64: 1, 3 or 4."},
                         {nullptr, nullptr, 0, nullptr}};
PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_cpu", nullptr, 0, methods, nullptr, nullptr, nullptr, nullptr,
};

}  // namespace

PyMODINIT_FUNC PyInit__cpu() { return PyModuleDef_Init(&definition); }
