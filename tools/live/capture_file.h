/* SPDX-License-Identifier: MIT */
/* A pcapng file of the datagrams that a program sends and receives, as they were on the wire. */
#ifndef UERUDP_TOOLS_LIVE_CAPTURE_FILE_H
#define UERUDP_TOOLS_LIVE_CAPTURE_FILE_H

#include "tools/net/socket.h"

struct live_capture;

/* With one interface, number 0; its name may be NULL. NULL, with a message, when the file cannot be written. */
struct live_capture *live_capture_open(const char *path, const char *name);

/* One more interface; returns its number. */
uint32_t live_capture_add_interface(struct live_capture *file, const char *name);

/* One datagram between this end of the socket and a peer, now, on interface 0. */
void live_capture_write_own_datagram(struct live_capture *file, const struct net_socket *socket, const struct net_address *peer,
                        bool is_sent, const uint8_t *bytes, size_t size_bytes);

/* One datagram of an interface; time_ns since 1970. comment may be NULL. */
void live_capture_write(struct live_capture *file, uint32_t interface, int64_t time_ns,
                     const struct net_address *from, const struct net_address *to, const uint8_t *bytes,
                     size_t size_bytes, const char *comment);

/* False, with a message, when not everything could be written. NULL is ignored. */
bool live_capture_close(struct live_capture *file);

#endif
