/* SPDX-License-Identifier: MIT */
/* How a connection ended: who closed it and why, or which side fell silent. */
#ifndef UERUDP_TOOLS_INFO_CONNECTION_END_H
#define UERUDP_TOOLS_INFO_CONNECTION_END_H

struct info_connection;

enum info_end { INFO_END_NONE, INFO_END_CLIENT, INFO_END_SERVER, INFO_END_TIMEOUT };

/* Who ended the connection; "timeout" if a side went silent. */
const char *info_end_name(enum info_end end);
enum info_end info_connection_end(const struct info_connection *info);

/* The side that went silent for good: it sent nothing for the threshold of TIMEOUT before the other side's last packet,
   or the other side reports ConnectionTimeout. -1: none. */
int info_connection_gone_side(const struct info_connection *info);

/* Why the connection closed: the name of a CloseReason, or the text of a Failure. NULL: unknown. */
const char *info_connection_close_text(const struct info_connection *info);

/* Adds the findings on the end of the connection, after those on its login. */
void info_connection_end_report(struct info_connection *info);

#endif
