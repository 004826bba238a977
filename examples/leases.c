// Leases worker ids from a table. Here it is the program's own, behind a mutex; where several hosts ask for worker ids
// it is a table of their database, and what stands between lock and unlock is one transaction.
#include <inttypes.h>
#include <leafid.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define WORKERS 8

// Of each worker id, who holds it and up to where it was ever given: the next span begins there.
struct table {
    pthread_mutex_t lock;
    int64_t holders;
    struct {
        char holder[LEAFID_TOKEN_SIZE];
        int64_t until_ms;
    } row[WORKERS];
};

// The table's clock, which no client's can deceive: a span ends at most 40 s ahead of it.
static int64_t clock_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

// A new token at each renewal: of two copies of a holder, one renews.
static void hold(struct table *table, leafid_lease *lease, int64_t until_ms) {
    int64_t most = clock_ms() + 40000, *stored = &table->row[lease->worker_id].until_ms;
    if (until_ms > most) until_ms = most;
    if (*stored < until_ms) *stored = until_ms;
    lease->until_ms = *stored;
    snprintf(lease->token, LEAFID_TOKEN_SIZE, "%" PRId64, ++table->holders);
    snprintf(table->row[lease->worker_id].holder, LEAFID_TOKEN_SIZE, "%s", lease->token);
}

static int claim(void *user_data, const leafid_claim_request *request, leafid_lease *lease, char *error,
                 size_t error_cap) {
    struct table *table = user_data;
    int status = LEAFID_WORKER_IN_USE;
    (void)error, (void)error_cap;
    pthread_mutex_lock(&table->lock);
    for (int i = 0; i < WORKERS && status != LEAFID_OK; i++) {
        if (table->row[i].until_ms > request->now_ms || table->row[i].until_ms > clock_ms()) continue;
        lease->worker_id = i;
        lease->from_ms = table->row[i].until_ms;
        hold(table, lease, request->until_ms);
        status = LEAFID_OK;
    }
    pthread_mutex_unlock(&table->lock);
    return status;
}

static int renew(void *user_data, leafid_lease *lease, int64_t until_ms, char *error, size_t error_cap) {
    struct table *table = user_data;
    (void)error, (void)error_cap;
    pthread_mutex_lock(&table->lock);
    int ours = strcmp(table->row[lease->worker_id].holder, lease->token) == 0;
    if (ours) hold(table, lease, until_ms);
    pthread_mutex_unlock(&table->lock);
    return ours ? LEAFID_OK : LEAFID_WORKER_LOST;
}

static int release(void *user_data, const leafid_lease *lease, int64_t until_ms, char *error, size_t error_cap) {
    struct table *table = user_data;
    (void)error, (void)error_cap;
    pthread_mutex_lock(&table->lock);
    if (strcmp(table->row[lease->worker_id].holder, lease->token) == 0) {
        table->row[lease->worker_id].holder[0] = '\0';
        if (until_ms < table->row[lease->worker_id].until_ms) table->row[lease->worker_id].until_ms = until_ms;
    }
    pthread_mutex_unlock(&table->lock);
    return LEAFID_OK;
}

int main(void) {
    static struct table table = {.lock = PTHREAD_MUTEX_INITIALIZER};
    const leafid_worker_leases functions = {sizeof functions, claim, renew, release};
    leafid_snowflake_options *options = NULL;
    leafid_snowflake *flake = NULL;
    leafid_parts parts;
    int64_t id;

    leafid_snowflake_options_new(&options);
    leafid_snowflake_options_set_worker_leases(options, &functions, &table, NULL);
    leafid_snowflake_options_set_name(options, "leases-example");
    if (leafid_snowflake_open(options, &flake) != LEAFID_OK) goto failed;
    if (leafid_snowflake_next(flake, &id) != LEAFID_OK) goto failed;
    if (leafid_decode(id, NULL, &parts) != LEAFID_OK) goto failed;
    printf("%" PRId64 " made by worker %" PRIu32 "\n", id, parts.worker_id);
    leafid_snowflake_free(flake);
    leafid_snowflake_options_free(options);
    return 0;

failed:;
    char text[512];
    leafid_last_error(text, sizeof text);
    fprintf(stderr, "%s\n", text);
    return 1;
}
