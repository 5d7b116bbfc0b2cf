/* SPDX-License-Identifier: MIT */
/* A pcapng file of the datagrams that a program sends and receives, as they were on the wire. */
#ifndef UE_LIVE_RECORD_H
#define UE_LIVE_RECORD_H

#include "tools/net/socket.h"

struct ue_record_file;

/* NULL, with a message, when the file cannot be written. */
struct ue_record_file *ue_record_open(const char *path);

/* One datagram between this end of the socket and a peer. */
void ue_record_datagram(struct ue_record_file *file, const struct ue_socket *socket, const struct ue_net_address *peer,
                        bool is_sent, const uint8_t *bytes, size_t size_bytes);

/* False, with a message, when not everything could be written. NULL is ignored. */
bool ue_record_close(struct ue_record_file *file);

#endif
