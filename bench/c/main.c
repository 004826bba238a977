/* ns per id of what a C program can pick, one JSON line per measured subject. Arguments say what to measure. */
#include "harness.h"

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    void (*measure)(void);
  } parts[] = {
      {"floors", floors}, {"ours", ours}, {"call", call},   {"loop", plain_loop},
      {"fill", fill},     {"tags", tags},   {"footprint", footprint},
#ifdef WITH_PEERS
      {"peers", peers},
#endif
  };
  for (int i = 1; i < argc; i++) {
    size_t at = 0, count = sizeof parts / sizeof *parts;
    while (at < count && strcmp(argv[i], parts[at].name)) at++;
    if (at == count) {
      fprintf(stderr, "nothing is called %s\n", argv[i]);
      return 1;
    }
    parts[at].measure();
  }
  return 0;
}
