/* SPDX-License-Identifier: MIT */
#include "tools/trace/svg.h"

#include <gio/gio.h>
#include <string.h>
#include <unistd.h>

/* page_head.js puts the picture between two of these marks. */
#define MARK "SVG:"
#define MARK_END ":SVG"

static char *find_browser(const char *browser, GError **error) {
    static const char *const names[] = {"chromium", "chromium-browser", "google-chrome", "chrome"};
    char *path = browser != NULL ? g_find_program_in_path(browser) : NULL;
    for (size_t i = 0; browser == NULL && path == NULL && i < G_N_ELEMENTS(names); i++) {
        path = g_find_program_in_path(names[i]);
    }
    if (path == NULL) {
        g_set_error(error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND, "%s: browser not found; SVG files are drawn with Chromium",
                    browser != NULL ? browser : "chromium");
    }
    return path;
}

/* Runs the browser with a temporary profile. */
static GBytes *run_browser(const char *browser, const char *folder, const char *url, GError **error) {
    g_autofree char *profile = g_strconcat("--user-data-dir=", folder, NULL);
    const char *arguments[] = {
        browser, "--headless", "--disable-gpu", "--dump-dom", "--virtual-time-budget=20000", profile, url, NULL, NULL};
    if (geteuid() == 0) { /* the sandbox of Chromium refuses root */
        arguments[6] = "--no-sandbox";
        arguments[7] = url;
    }
    GSubprocess *process =
        g_subprocess_newv(arguments, G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_SILENCE, error);
    GBytes *output = NULL;
    if (process != NULL) {
        g_subprocess_communicate(process, NULL, NULL, &output, NULL, error);
        g_object_unref(process);
    }
    return output;
}

static char *extract_picture(GBytes *document, GError **error) {
    gsize length;
    const char *text = g_bytes_get_data(document, &length);
    const char *begin = text != NULL ? g_strstr_len(text, (gssize)length, MARK) : NULL;
    const char *end = begin != NULL ? g_strstr_len(begin, text + length - begin, MARK_END) : NULL;
    if (end == NULL) {
        g_set_error(error, G_IO_ERROR, G_IO_ERROR_FAILED, "the browser did not draw a picture");
        return NULL;
    }
    begin += strlen(MARK);
    g_autofree char *coded = g_strndup(begin, (gsize)(end - begin));
    gsize size;
    g_autofree guchar *picture = g_base64_decode(coded, &size);
    return g_strndup((const char *)picture, size);
}

static void remove_folder(const char *path) {
    const char *arguments[] = {"rm", "-rf", path, NULL};
    GSubprocess *process = g_subprocess_newv(arguments, G_SUBPROCESS_FLAGS_NONE, NULL);
    if (process != NULL) {
        g_subprocess_wait(process, NULL, NULL);
        g_object_unref(process);
    }
}

static char *draw(const char *program, const char *path, GError **error) {
    char *folder = g_dir_make_tmp("uerudp-XXXXXX", error);
    if (folder == NULL) {
        return NULL;
    }
    g_autoptr(GFile) file = g_file_new_for_commandline_arg(path);
    g_autofree char *uri = g_file_get_uri(file);
    g_autofree char *url = g_strconcat(uri, "#svg", NULL);
    GBytes *document = run_browser(program, folder, url, error);
    char *picture = document != NULL ? extract_picture(document, error) : NULL;
    remove_folder(folder);
    g_clear_pointer(&document, g_bytes_unref);
    g_free(folder);
    return picture;
}

char *trace_draw_svg(const char *browser, const char *path, GError **error) {
    g_autofree char *program = find_browser(browser, error);
    return program != NULL ? draw(program, path, error) : NULL;
}
