/* SPDX-License-Identifier: MIT */
#include "tools/cli/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/cli/command_line.h"

#define BUFFER_BYTES (256 * 1024) /* few system calls for large captures */

/* ---- removal of incomplete files ---- */

/* Incomplete files that a fatal signal removes; more files at a time would be left behind. */
static char *volatile parts[4];

static void replace(const char *old, char *new) {
    for (size_t i = 0; i < G_N_ELEMENTS(parts); i++) {
        if (parts[i] == old) {
            parts[i] = new;
            return;
        }
    }
}

static void remove_parts(int number) {
    for (size_t i = 0; i < G_N_ELEMENTS(parts); i++) {
        if (parts[i] != NULL) {
            unlink(parts[i]);
        }
    }
    raise(number); /* SA_RESETHAND: the signal now has its default effect */
}

/* Signals that the program handles or its parent ignores are left alone. */
static void catch_endings(void) {
    static const int endings[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
    struct sigaction ours = {.sa_handler = remove_parts, .sa_flags = (int)SA_RESETHAND | SA_NODEFER};
    sigemptyset(&ours.sa_mask);
    for (size_t i = 0; i < G_N_ELEMENTS(endings); i++) {
        struct sigaction before;
        if (sigaction(endings[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL) {
            sigaction(endings[i], &ours, NULL);
        }
    }
}

static FILE *open_part(struct output_file *output, mode_t mode) {
    output->part = g_strconcat(output->path, ".XXXXXX.part", NULL);
    replace(NULL, output->part);
    catch_endings();
    int descriptor = g_mkstemp_full(output->part, O_WRONLY, (int)mode);
    return descriptor >= 0 ? fdopen(descriptor, "wb") : NULL;
}

static void unregister(struct output_file *output) {
    if (output->part != NULL) {
        replace(output->part, NULL);
    }
    g_free(output->path);
    g_free(output->part);
    g_free(output->buffer);
    *output = (struct output_file){0};
}

/* ---- files that are read ---- */

static char **protected_paths;
static int protected_count;

void output_file_protect(int path_count, char **paths) {
    protected_count = path_count;
    protected_paths = paths;
}

bool output_file_is_allowed(const char *path) {
    struct stat output, input;
    if (stat(path, &output) != 0 || !S_ISREG(output.st_mode)) {
        return true;
    }
    for (int i = 0; i < protected_count; i++) {
        if (stat(protected_paths[i], &input) == 0 && input.st_dev == output.st_dev && input.st_ino == output.st_ino) {
            return cli_error("%s: this is a file to read; the output would replace it", path);
        }
    }
    return true;
}

/* ---- files ---- */

/* A symbolic link stays; its target is written. */
static char *resolve(const char *path) {
    char *target = g_file_test(path, G_FILE_TEST_IS_SYMLINK) ? realpath(path, NULL) : NULL;
    return target != NULL ? target : g_strdup(path);
}

/* Opens a device directly. An existing file must be writable, and the new file gets its permissions. */
static FILE *open_file(struct output_file *output) {
    struct stat status;
    bool exists = stat(output->path, &status) == 0;
    if (exists && !S_ISREG(status.st_mode)) {
        return fopen(output->path, "wb");
    }
    if (exists && access(output->path, W_OK) != 0) {
        return NULL;
    }
    return open_part(output, exists ? status.st_mode & ACCESSPERMS : DEFFILEMODE);
}

bool output_file_open(struct output_file *output, const char *path) {
    *output = (struct output_file){0};
    if (path == NULL || strcmp(path, "-") == 0) {
        output->file = stdout;
        return true;
    }
    if (!output_file_is_allowed(path)) {
        return false;
    }
    output->path = resolve(path);
    output->file = open_file(output);
    if (output->file == NULL) {
        cli_error("%s: %s", path, g_strerror(errno));
        unregister(output);
        return false;
    }
    output->buffer = g_malloc(BUFFER_BYTES); /* without a buffer glibc ignores the size */
    setvbuf(output->file, output->buffer, _IOFBF, BUFFER_BYTES);
    return true;
}

bool output_file_is_terminal(const struct output_file *output) {
    return isatty(fileno(output->file));
}

static bool end_file(const struct output_file *output) {
    bool good = fflush(output->file) == 0 && ferror(output->file) == 0;
    good = (output->file == stdout || fclose(output->file) == 0) && good;
    if (!good) {
        cli_error("%s: cannot write", output->path != NULL ? output->path : "standard output");
    }
    return good;
}

static bool rename_into_place(const struct output_file *output, bool is_good) {
    if (output->part == NULL) {
        return is_good;
    }
    if (!is_good) {
        g_unlink(output->part);
        return false;
    }
    if (g_rename(output->part, output->path) != 0) {
        cli_error("%s: %s", output->path, g_strerror(errno));
        g_unlink(output->part);
        return false;
    }
    return true;
}

bool output_file_close(struct output_file *output, bool is_good) {
    is_good = end_file(output) && is_good;
    is_good = rename_into_place(output, is_good);
    unregister(output);
    return is_good;
}
