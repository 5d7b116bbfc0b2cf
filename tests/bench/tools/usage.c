/* SPDX-License-Identifier: MIT */
/* Runs a command without its standard output and prints its exit status, the CPU time and the wall clock that it took
   in seconds, and its peak memory in bytes. On Linux the peak of a command is at least what the process that starts it
   has in memory: a script would measure itself. usage: bench_usage COMMAND [ARGUMENT...] */
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define KIB 1024

extern char **environ;

static double seconds(struct timeval time) {
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

int main(int argc, char **argv) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    double begin = now();
    pid_t child;
    int error = argc > 1 ? posix_spawnp(&child, argv[1], &actions, NULL, argv + 1, environ) : 0;
    if (argc < 2 || error != 0) {
        fprintf(stderr, "bench_usage: %s\n", argc < 2 ? "no command" : strerror(error));
        return 2;
    }
    int status;
    struct rusage usage;
    if (wait4(child, &status, 0, &usage) != child) {
        perror("bench_usage");
        return 2;
    }
    printf("%d %.6f %.6f %ld\n", WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
           seconds(usage.ru_utime) + seconds(usage.ru_stime), now() - begin, usage.ru_maxrss * KIB);
    return 0;
}
