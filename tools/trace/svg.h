/* SPDX-License-Identifier: MIT */
/* The picture of a page as an SVG file, drawn by a headless browser. */
#ifndef UERUDP_TOOLS_TRACE_SVG_H
#define UERUDP_TOOLS_TRACE_SVG_H

#include <glib.h>

/* Returns the SVG text of the page at path, which the caller frees with g_free; NULL with an error. browser NULL:
   the first Chromium or Chrome in PATH. */
char *trace_draw_svg(const char *browser, const char *path, GError **error);

#endif
