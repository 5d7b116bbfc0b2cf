/* SPDX-License-Identifier: MIT */
/* A pcapng file of the datagrams that a program sends and receives, as they were on the wire. */
#ifndef UERUDP_TOOLS_LIVE_CAPTURE_FILE_H
#define UERUDP_TOOLS_LIVE_CAPTURE_FILE_H

#include "tools/net/socket.h"

struct ue_record_file;

/* With one interface, number 0; its name may be NULL. NULL, with a message, when the file cannot be written. */
struct ue_record_file *ue_record_open(const char *path, const char *name);

/* One more interface; returns its number. */
uint32_t ue_record_interface(struct ue_record_file *file, const char *name);

/* One datagram between this end of the socket and a peer, now, on interface 0. */
void ue_record_datagram(struct ue_record_file *file, const struct ue_socket *socket, const struct ue_net_address *peer,
                        bool is_sent, const uint8_t *bytes, size_t size_bytes);

/* One datagram of an interface; time_ns since 1970. comment may be NULL. */
void ue_record_write(struct ue_record_file *file, uint32_t interface, int64_t time_ns,
                     const struct ue_net_address *from, const struct ue_net_address *to, const uint8_t *bytes,
                     size_t size_bytes, const char *comment);

/* False, with a message, when not everything could be written. NULL is ignored. */
bool ue_record_close(struct ue_record_file *file);

#endif
