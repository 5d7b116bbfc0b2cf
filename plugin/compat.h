/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Differences between Wireshark 4.0, 4.2, 4.4 and 4.6. Include this before any Wireshark header. */
#ifndef UERUDP_PLUGIN_COMPAT_H
#define UERUDP_PLUGIN_COMPAT_H

#include <ws_version.h>

#include <glib.h>
#include <stdbool.h>

#define UERUDP_WIRESHARK_BEFORE(major, minor)                                                                          \
    (WIRESHARK_VERSION_MAJOR < (major) || (WIRESHARK_VERSION_MAJOR == (major) && WIRESHARK_VERSION_MINOR < (minor)))

/* The boolean type of Wireshark's callbacks: gboolean before 4.4, then bool. */
#if UERUDP_WIRESHARK_BEFORE(4, 4)
typedef gboolean uerudp_callback_bool;
#else
typedef bool uerudp_callback_bool;
#endif

/* A plugin exports plugin_describe() from 4.2 on; Debian packages its header from 4.4 on. */
#define UERUDP_PLUGIN_DESCRIBES_ITSELF (!UERUDP_WIRESHARK_BEFORE(4, 4))

/* Separates menu levels in the name of a stats tree. */
#if UERUDP_WIRESHARK_BEFORE(4, 2)
#define UERUDP_STATS_MENU_SEPARATOR "/"
#else
#define UERUDP_STATS_MENU_SEPARATOR "//"
#endif

/* From 4.4 on a follower has sub-streams and reports the number of streams. */
#define UERUDP_FOLLOW_HAS_SUB_STREAMS (!UERUDP_WIRESHARK_BEFORE(4, 4))
#if UERUDP_FOLLOW_HAS_SUB_STREAMS
#define uerudp_register_follow_stream register_follow_stream
#else
#define uerudp_register_follow_stream(proto, tap, conversation, by_index, address, port, handler, count, sub_stream)   \
    ((void)(count), (void)(sub_stream),                                                                                \
     register_follow_stream(proto, tap, conversation, by_index, address, port, handler))
#endif

/* From 4.6 on the init function of a command line statistic returns whether it started. */
#define UERUDP_STAT_INIT_RETURNS_BOOL (!UERUDP_WIRESHARK_BEFORE(4, 6))

/* Pointer to the value of a struct field_info. */
#if UERUDP_WIRESHARK_BEFORE(4, 2)
#define UERUDP_FIELD_VALUE(info) (&(info)->value)
#else
#define UERUDP_FIELD_VALUE(info) ((info)->value)
#endif

/* The first argument of mark_frame_as_depended_upon(). */
#if UERUDP_WIRESHARK_BEFORE(4, 4)
#define UERUDP_DEPENDENT_FRAME(pinfo) (pinfo)
#else
#define UERUDP_DEPENDENT_FRAME(pinfo) ((pinfo)->fd)
#endif

#endif
