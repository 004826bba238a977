/* unload DLL STATE_DIR: a program that unloads leafid.dll while a generator is open. The DLL stays. */
#include <leafid.h>
#include <stdio.h>
#include <windows.h>

/* The functions of the header, found in the DLL. */
#define FOUND(name) ((__typeof__(&name))(void (*)(void))GetProcAddress(dll, #name))

int main(int count, char **arguments) {
    leafid_snowflake_options *options;
    leafid_snowflake *flake;
    int64_t first, second;

    HMODULE dll = count == 3 ? LoadLibraryA(arguments[1]) : NULL;
    if (dll == NULL) return 1;
    if (FOUND(leafid_snowflake_options_new)(&options) != LEAFID_OK) return 2;
    FOUND(leafid_snowflake_options_set_worker)(options, "0-31");
    FOUND(leafid_snowflake_options_set_state_dir)(options, arguments[2]);
    if (FOUND(leafid_snowflake_open)(options, &flake) != LEAFID_OK) return 3;
    __typeof__(&leafid_snowflake_next) next = FOUND(leafid_snowflake_next);
    if (next(flake, &first) != LEAFID_OK) return 4;

    for (int i = 0; i < 3; i++) FreeLibrary(dll);
    if (GetModuleHandleA("leafid.dll") != dll) {
        printf("not ok - leafid.dll stays loaded\n");
        return 5;
    }
    /* A renewal of its thread comes within this time. */
    Sleep(3000);
    if (next(flake, &second) != LEAFID_OK || second <= first) return 6;
    printf("ok - leafid.dll stays loaded\n");
    return 0;
}
