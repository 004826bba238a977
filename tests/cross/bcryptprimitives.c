/* What Rust's standard library takes random numbers from, for versions of wine that lack it. */
#include <windows.h>

BOOLEAN NTAPI SystemFunction036(PVOID into, ULONG count);

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE into, SIZE_T count);

BOOL WINAPI ProcessPrng(PBYTE into, SIZE_T count) {
    return SystemFunction036(into, (ULONG)count);
}
