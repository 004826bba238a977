/*
 * A host of its own, as far as leafid sees: runs a program that can make no local sockets and has a /run/lock of its own,
 * and so neither sees nor marks which worker ids are taken on this host.
 *
 *     apart PROGRAM ARGUMENT...
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static int say(const char *path, const char *text) {
    int file = open(path, O_WRONLY | O_CLOEXEC);
    return file < 0 || write(file, text, strlen(text)) < 0 || close(file);
}

/* Who is not root may mount in a user namespace, in which it stays who it is. */
static int own_locks(void) {
    char user[64], group[64];
    if (access("/run/lock", F_OK)) return 0;
    snprintf(user, sizeof user, "%u %u 1", getuid(), getuid());
    snprintf(group, sizeof group, "%u %u 1", getgid(), getgid());
    if (geteuid() == 0 ? unshare(CLONE_NEWNS)
                       : unshare(CLONE_NEWUSER | CLONE_NEWNS) || say("/proc/self/setgroups", "deny") ||
                             say("/proc/self/uid_map", user) || say("/proc/self/gid_map", group))
        return -1;
    /* What the host mounts later is seen. */
    return mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) || mount("tmpfs", "/run/lock", "tmpfs", 0, "mode=1777");
}

int main(int argc, char **argv) {
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_socket, 0, 3),
        /* The lower half of the first argument, on little-endian machines. */
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_UNIX, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EAFNOSUPPORT),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof code / sizeof *code, code};
    if (argc < 2) return 64;
    if (own_locks() || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
        fprintf(stderr, "apart: %s\n", strerror(errno));
        return 77;
    }
    execvp(argv[1], argv + 1);
    return 127;
}
