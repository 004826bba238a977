/*
 * A disk on strings: runs a program whose fsync and fdatasync wait, fail or pass as a control file says.
 *
 *     stall CONTROL PROGRAM ARGUMENT...
 *
 * CONTROL holds a word: `ok`; `hang` (until it says otherwise); `slow` and milliseconds; `eio`; and after it, if only
 * some files are meant, a part of their paths. The program's calls are stopped by the kernel (seccomp user
 * notification), so that those made past the C library are caught too. The program keeps this process's id; the one
 * that answers is a child of it, and ends with it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 256 };

struct pending {
    __u64 id;
    long long since_ms;
    char path[512];
};

static long long now_ms(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000LL + time.tv_nsec / 1000000;
}

static void die(const char *what) {
    fprintf(stderr, "stall: %s: %s\n", what, strerror(errno));
    _exit(77);
}

static int install(void) {
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_fdatasync, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_fsync, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
    };
    struct sock_fprog program = {sizeof code / sizeof *code, code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) die("no_new_privs");
    int listener = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
    if (listener < 0) die("seccomp");
    return listener;
}

static void send_descriptor(int socket, int fd) {
    char byte = 0, room[CMSG_SPACE(sizeof(int))] = {0};
    struct iovec data = {&byte, 1};
    struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(header), &fd, sizeof fd);
    if (sendmsg(socket, &message, 0) != 1) die("sendmsg");
}

static int receive_descriptor(int socket) {
    char byte, room[CMSG_SPACE(sizeof(int))];
    struct iovec data = {&byte, 1};
    struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
    if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != 1) _exit(0);
    int fd;
    memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof fd);
    return fd;
}

/* Whether a call is to be answered now, and with what. */
static int due(const char *mode, const struct pending *call, int *error) {
    const char *part = strchr(mode, '/');
    *error = 0;
    if (part && !strstr(call->path, part)) return 1;
    if (!strncmp(mode, "hang", 4)) return 0;
    if (!strncmp(mode, "slow", 4)) return now_ms() - call->since_ms >= atoi(mode + 4);
    if (!strncmp(mode, "eio", 3)) *error = -EIO;
    return 1;
}

/* The call, with the path of the file that is to be synced. */
static struct pending describe(const struct seccomp_notif *notification) {
    struct pending call = {.id = notification->id, .since_ms = now_ms()};
    char link[64];
    snprintf(link, sizeof link, "/proc/%u/fd/%d", notification->pid, (int)notification->data.args[0]);
    ssize_t n = readlink(link, call.path, sizeof call.path - 1);
    call.path[n > 0 ? n : 0] = 0;
    return call;
}

static void serve(int listener, const char *control) {
    struct pending pending[MOST];
    size_t count = 0;
    for (;;) {
        struct pollfd poller = {listener, POLLIN, 0};
        poll(&poller, 1, count ? 2 : 1000);
        if (poller.revents & POLLHUP) _exit(0);
        if (poller.revents & POLLIN && count < MOST) {
            struct seccomp_notif notification = {0};
            if (!ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &notification))
                pending[count++] = describe(&notification);
        }
        char mode[512] = "ok";
        int file = open(control, O_RDONLY | O_CLOEXEC);
        if (file >= 0) {
            ssize_t n = read(file, mode, sizeof mode - 1);
            mode[n > 0 ? n : 0] = 0;
            mode[strcspn(mode, "\n")] = 0;
            close(file);
        }
        size_t kept = 0;
        for (size_t i = 0; i < count; i++) {
            int error;
            if (!due(mode, &pending[i], &error)) {
                pending[kept++] = pending[i];
                continue;
            }
            struct seccomp_notif_resp answer = {.id = pending[i].id, .error = error};
            if (!error) answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
            /* One that was killed meanwhile is not there any more. */
            ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
        }
        count = kept;
    }
}

int main(int argc, char **argv) {
    if (argc < 3) return 2;
    int sockets[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets)) die("socketpair");
    pid_t pid = fork();
    if (pid < 0) die("fork");
    if (pid == 0) {
        close(sockets[1]);
        int listener = receive_descriptor(sockets[0]);
        /* The program's pipes are its own. */
        for (int fd = 0; fd < 3; fd++) close(fd);
        setsid();
        serve(listener, argv[1]);
    }
    close(sockets[0]);
    int listener = install();
    send_descriptor(sockets[1], listener);
    close(listener);
    close(sockets[1]);
    execvp(argv[2], argv + 2);
    die(argv[2]);
}
