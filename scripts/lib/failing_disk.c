/* Preloaded into the server: while the file that FAULT_FILE names exists, writing to the database fails with the errno
   that is in it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static int fault(int fd) {
    const char *flag = getenv("FAULT_FILE");
    char text[16] = "", link[64], path[4096] = "";
    int saved = errno, number = 0, file = flag ? open(flag, O_RDONLY | O_CLOEXEC) : -1;
    if (file >= 0) {
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        if (read(file, text, sizeof text - 1) > 0 && readlink(link, path, sizeof path - 1) > 0 && strstr(path, ".db"))
            number = atoi(text);
        close(file);
    }
    errno = saved;
    return number;
}

#define FAIL(type, name, parameters, arguments)                                \
    type name parameters {                                                     \
        static type(*real) parameters;                                         \
        int number = fault(fd);                                                \
        if (number) {                                                          \
            errno = number;                                                    \
            return -1;                                                         \
        }                                                                      \
        if (!real) real = (type(*) parameters)dlsym(RTLD_NEXT, #name);         \
        return real arguments;                                                 \
    }

FAIL(ssize_t, write, (int fd, const void *data, size_t size), (fd, data, size))
FAIL(ssize_t, pwrite, (int fd, const void *data, size_t size, off_t at), (fd, data, size, at))
FAIL(ssize_t, pwrite64, (int fd, const void *data, size_t size, off64_t at), (fd, data, size, at))
FAIL(int, ftruncate, (int fd, off_t size), (fd, size))
FAIL(int, ftruncate64, (int fd, off64_t size), (fd, size))
FAIL(int, fsync, (int fd), (fd))
FAIL(int, fdatasync, (int fd), (fd))
