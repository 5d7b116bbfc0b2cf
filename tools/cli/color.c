/* SPDX-License-Identifier: MIT */
#include "tools/cli/color.h"

#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "tools/cli/command_line.h"

/* https://no-color.org: any value but an empty one. */
static bool is_refused(void) {
    const char *wish = g_getenv("NO_COLOR");
    return (wish != NULL && *wish != '\0') || g_strcmp0(g_getenv("TERM"), "dumb") == 0;
}

unsigned color_columns(int descriptor) {
    struct winsize size = {0};
    return isatty(descriptor) && ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

bool color_resolve(const char *text, bool *is_colored) {
    if (text == NULL || strcmp(text, "auto") == 0) {
        *is_colored = isatty(STDOUT_FILENO) && !is_refused();
        return true;
    }
    *is_colored = strcmp(text, "always") == 0;
    if (!*is_colored && strcmp(text, "never") != 0) {
        return cli_error("--color=%s: must be auto, always or never", text);
    }
    return true;
}
