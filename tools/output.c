/* SPDX-License-Identifier: MIT */
#include "tools/output.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "tools/cli.h"

#define BUFFER_BYTES (256 * 1024) /* few system calls for large captures */

static bool is_special(const char *path) {
    return g_file_test(path, G_FILE_TEST_EXISTS) && !g_file_test(path, G_FILE_TEST_IS_REGULAR);
}

bool ue_output_open(struct ue_output *output, const char *path) {
    *output = (struct ue_output){0};
    if (path == NULL || strcmp(path, "-") == 0) {
        output->file = stdout;
        return true;
    }
    output->path = g_strdup(path);
    output->part = is_special(path) ? NULL : g_strconcat(path, ".part", NULL);
    output->file = fopen(output->part != NULL ? output->part : path, "wb");
    if (output->file == NULL) {
        ue_complain("%s: %s", path, g_strerror(errno));
        g_free(output->path);
        g_free(output->part);
        *output = (struct ue_output){0};
        return false;
    }
    setvbuf(output->file, NULL, _IOFBF, BUFFER_BYTES);
    return true;
}

bool ue_output_is_terminal(const struct ue_output *output) {
    return isatty(fileno(output->file));
}

static bool end_file(const struct ue_output *output) {
    bool good = fflush(output->file) == 0 && ferror(output->file) == 0;
    good = (output->file == stdout || fclose(output->file) == 0) && good;
    if (!good) {
        ue_complain("%s: cannot write", output->path != NULL ? output->path : "standard output");
    }
    return good;
}

static bool put_in_place(const struct ue_output *output, bool is_good) {
    if (output->part == NULL) {
        return is_good;
    }
    if (!is_good) {
        g_unlink(output->part);
        return false;
    }
    if (g_rename(output->part, output->path) != 0) {
        ue_complain("%s: %s", output->path, g_strerror(errno));
        g_unlink(output->part);
        return false;
    }
    return true;
}

bool ue_output_close(struct ue_output *output, bool is_good) {
    is_good = end_file(output) && is_good;
    is_good = put_in_place(output, is_good);
    g_free(output->path);
    g_free(output->part);
    *output = (struct ue_output){0};
    return is_good;
}
