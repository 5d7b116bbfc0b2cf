/* SPDX-License-Identifier: MIT */
/* The picture of a page as an SVG file, drawn by a browser without a window. */
#ifndef UERUDP_TOOLS_TRACE_SVG_H
#define UERUDP_TOOLS_TRACE_SVG_H

#include <glib.h>

/* The SVG text of the page at path, to be freed with g_free; NULL with an error. browser NULL: the first Chromium or
   Chrome in the path of programs. */
char *trace_draw_svg(const char *browser, const char *path, GError **error);

#endif
