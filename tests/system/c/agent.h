/* What the parts of the C subject share. */
#include <leafid.h>
#include <stddef.h>

long long now_us(void);
/* What stands behind `key=` in the words. */
const char *option(int count, char **words, const char *key, const char *fallback);
const char *last_error(void);
/* Ends the program with the last error. */
void fail(void);
void put(const int64_t *ids, size_t count);
leafid_status open_flake(int count, char **words, leafid_snowflake **flake);

/* Deeds that are done many times in one go, with the answers of the Rust subject in ../rust/src/rounds.rs. */
leafid_status pace(leafid_snowflake *flake, long long count, char *answer, size_t room);
leafid_status open_and_close(long long rounds, int count, char **words, char *answer, size_t room);
leafid_status forks(leafid_snowflake *flake, long long count, char *answer, size_t room);

/* A holder of a leased worker id until its input ends: `agent lessee key=value…`, as ../rust/src/lessee.rs. */
int lessee(int count, char **words);

/* The subject of the tests of segments: `agent segments serve`, `agent segments stream key=value…`. */
int segments_serve(void);
int segments_stream(int count, char **words);
