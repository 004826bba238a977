/* Memory for programs whose children are made by hand (_Fork, raw clones). The C library's malloc has locks, which another
   thread may hold at that moment; in the child they then stay locked for ever. Here is no lock, and nothing is freed. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

/* A sanitizer has a malloc of its own, and other systems do not let a program replace it in this way. */
#if defined(__linux__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

/* Only what is used costs memory. */
#if SIZE_MAX > 0xffffffffu
#define ALL ((size_t)8 << 30)
#else
#define ALL ((size_t)512 << 20)
#endif

static _Atomic(char *) base;
static atomic_size_t used;

static char *memory(void) {
    char *there = atomic_load(&base);
    if (there) return there;
    char *made = mmap(NULL, ALL, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (made == MAP_FAILED) return NULL;
    if (atomic_compare_exchange_strong(&base, &there, made)) return made;
    munmap(made, ALL);
    return there;
}

/* Its size stands before it. */
static void *aligned(size_t alignment, size_t size) {
    char *all = memory();
    if (alignment < 16) alignment = 16;
    size_t begin = all && size < ALL / 4 && alignment < ALL / 4 ? atomic_fetch_add(&used, size + 2 * alignment) : ALL;
    if (begin > ALL / 2) {
        errno = ENOMEM;
        return NULL;
    }
    uintptr_t at = ((uintptr_t)all + begin + sizeof(size_t) + alignment - 1) & ~(uintptr_t)(alignment - 1);
    ((size_t *)at)[-1] = size;
    return (void *)at;
}

void *malloc(size_t size) {
    return aligned(16, size);
}

void free(void *old) {
    (void)old;
}

void *calloc(size_t count, size_t size) {
    if (size && count > ALL / size) {
        errno = ENOMEM;
        return NULL;
    }
    /* Nothing is used twice, so it is still zero. */
    return aligned(16, count * size);
}

void *realloc(void *old, size_t size) {
    void *new = aligned(16, size);
    if (old && new) {
        size_t before = ((size_t *)old)[-1];
        memcpy(new, old, before < size ? before : size);
    }
    return new;
}

void *memalign(size_t alignment, size_t size) {
    return aligned(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    return aligned(alignment, size);
}

int posix_memalign(void **out, size_t alignment, size_t size) {
    *out = aligned(alignment, size);
    return *out ? 0 : ENOMEM;
}

size_t malloc_usable_size(void *old) {
    return old ? ((size_t *)old)[-1] : 0;
}

#else
typedef int nothing;
#endif
