/* What the parts of the agent in C share; ../../system/subjects.py lists its commands. */
#include <leafid.h>
#include <stddef.h>

enum { BATCH = 512, TAGS = 64 };

/* Where ids come from: a snowflake, or a tag. */
typedef struct {
    leafid_snowflake *flake;
    leafid_tag *tag;
} source;

/* What stands behind `open HANDLE`: a snowflake, or segments and the tags that were asked for. */
typedef struct {
    leafid_snowflake *flake;
    leafid_segments *segments;
    struct {
        char name[140];
        leafid_tag *tag;
    } tags[TAGS];
} handle;

long long now_us(void);
/* What stands behind `key=` in the words. */
const char *option(int count, char **words, const char *key, const char *fallback);
const char *last_error(void);
/* Ends the program with the last error. */
void fail(void);

/* A snowflake where the words have `worker`, otherwise segments. */
leafid_status open_handle(int count, char **words, handle *out);
leafid_status close_handle(handle *of);
void free_handle(handle *of);
leafid_status worker_of(const handle *of, uint32_t *worker);
leafid_status source_of(handle *of, const char *tag, source *out);
leafid_status next_id(source of, int64_t *id);
leafid_status fill_ids(source of, int64_t *ids, size_t count);

/* What is done many times in one go. */
leafid_status open_and_close(long long rounds, int count, char **words, char *answer, size_t room);
leafid_status forks(source of, long long count, char *answer, size_t room);

/* A program of the chaos run, until SIGTERM. */
int chaos(int count, char **words);
