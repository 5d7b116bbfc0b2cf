/* SPDX-License-Identifier: MIT */
/* A pcapng file of the datagrams that a program sends and receives, as they are on the wire. */
#ifndef UERUDP_TOOLS_LIVE_CAPTURE_FILE_H
#define UERUDP_TOOLS_LIVE_CAPTURE_FILE_H

#include "tools/net/socket.h"

struct live_capture;

/* Creates the file with interface 0, whose name may be NULL. NULL, with a message: the file cannot be written. */
struct live_capture *live_capture_open(const char *path, const char *name);

/* Adds an interface; returns its number. */
uint32_t live_capture_add_interface(struct live_capture *record, const char *name);

/* Writes a datagram between the socket's own address and a peer, at the current time, on interface 0. */
void live_capture_write_own_datagram(struct live_capture *record, const struct net_socket *socket,
                                     const struct net_address *peer, bool is_sent, const uint8_t *bytes,
                                     size_t size_bytes);

/* Writes a datagram of an interface; time_ns since 1970. comment may be NULL. */
void live_capture_write(struct live_capture *record, uint32_t interface, int64_t time_ns,
                        const struct net_address *from, const struct net_address *to, const uint8_t *bytes,
                        size_t size_bytes, const char *comment);

/* False, with a message: the file is incomplete. NULL is ignored. */
bool live_capture_close(struct live_capture *record);

#endif
