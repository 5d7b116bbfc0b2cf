/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What differs between the Wireshark series 4.0, 4.2, 4.4 and 4.6. Include it before any Wireshark header. */
#ifndef UERUDP_PLUGIN_COMPAT_H
#define UERUDP_PLUGIN_COMPAT_H

#include <ws_version.h>

#include <glib.h>
#include <stdbool.h>

#define UERUDP_WIRESHARK_BEFORE(major, minor)                                                                              \
    (WIRESHARK_VERSION_MAJOR < (major) || (WIRESHARK_VERSION_MAJOR == (major) && WIRESHARK_VERSION_MINOR < (minor)))

/* The truth type of callbacks: int-sized up to 4.2. */
#if UERUDP_WIRESHARK_BEFORE(4, 4)
typedef gboolean uerudp_callback_bool;
#else
typedef bool uerudp_callback_bool;
#endif

/* A plugin says what it is from 4.2 on; the header for it is packaged from 4.4 on. */
#define UERUDP_PLUGIN_DESCRIBES_ITSELF (!UERUDP_WIRESHARK_BEFORE(4, 4))

/* What stands between the menus in the name of a stats tree. */
#if UERUDP_WIRESHARK_BEFORE(4, 2)
#define UERUDP_STATS_MENU_SEPARATOR "/"
#else
#define UERUDP_STATS_MENU_SEPARATOR "//"
#endif

/* Followers have sub-streams, and tell how many streams there are, from 4.4 on. */
#define UERUDP_FOLLOW_HAS_SUB_STREAMS (!UERUDP_WIRESHARK_BEFORE(4, 4))
#if UERUDP_FOLLOW_HAS_SUB_STREAMS
#define uerudp_register_follow_stream register_follow_stream
#else
#define uerudp_register_follow_stream(proto, tap, conversation, by_index, address, port, handler, count, sub_stream)       \
    ((void)(count), (void)(sub_stream),                                                                                \
     register_follow_stream(proto, tap, conversation, by_index, address, port, handler))
#endif

/* A statistic of the command line says whether it began, from 4.6 on. */
#define UERUDP_STAT_INIT_RETURNS_BOOL (!UERUDP_WIRESHARK_BEFORE(4, 6))

/* The value of a struct field_info. */
#if UERUDP_WIRESHARK_BEFORE(4, 2)
#define UERUDP_FIELD_VALUE(info) (&(info)->value)
#else
#define UERUDP_FIELD_VALUE(info) ((info)->value)
#endif

/* Labels show 36 bytes of a run, or 24 with spaces; later series as many as there is room for. */
#define UERUDP_BYTES_LABELS_ARE_SHORT (UERUDP_WIRESHARK_BEFORE(4, 2))

/* Labels of times are all in seconds; in later series, short ones may be in smaller units. */
#define UERUDP_TIME_LABELS_ARE_SECONDS (UERUDP_WIRESHARK_BEFORE(4, 2))

/* The first argument of mark_frame_as_depended_upon. */
#if UERUDP_WIRESHARK_BEFORE(4, 4)
#define UERUDP_DEPENDENT_FRAME(pinfo) (pinfo)
#else
#define UERUDP_DEPENDENT_FRAME(pinfo) ((pinfo)->fd)
#endif

#endif
