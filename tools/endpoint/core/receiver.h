/* SPDX-License-Identifier: MIT */
/* The receiving side of a connection: the order of packets, and their bunches (endpoint.md 8, 9, 16 to 19). */
#ifndef UERUDP_TOOLS_ENDPOINT_CORE_RECEIVER_H
#define UERUDP_TOOLS_ENDPOINT_CORE_RECEIVER_H

#include "tools/endpoint/core/order_cache.h"
#include "tools/endpoint/core/sender.h"

/* The program's handler of bunches on channel 0 (ue_conn_set_hook). */
struct ue_hook {
    ue_bunch_hook *call; /* NULL: none */
    void *user;
    struct ue_conn *conn;
};

struct ue_receiver {
    struct ue_common *common;
    struct ue_channel_table *channels;
    struct ue_sender *sender; /* for what packets report, and for the reports on packets */
    int64_t in_packet_id;     /* InPacketId: newest received */
    struct ue_order_cache order_cache;
    uint64_t order_cache_since_ns; /* when its oldest packet came */
    uint64_t last_receive_ns;      /* LastReceiveTime */
    uint64_t last_packet_ns;       /* of the newest packet that is no handshake message */
    struct ue_hook hook;
    bool peer_encrypts; /* the peer has sent an encrypted packet */
};

/* packet_bunches.c: the bunches of one packet (endpoint.md 16 to 19) */
/* Returns whether the packet must count as not delivered. *bunches: how many there were. */
bool ue_dispatch(struct ue_receiver *r, uint64_t now_ns, const uint8_t *bytes, struct ue_item_range rest,
                 uint32_t *bunches);

/* The kind of channel that a bunch names; false: unknown. */
bool ue_channel_kind_of(const struct ue_common *common, const struct ue_bunch *bunch, enum ue_channel_kind *kind);

/* bunch_order_and_reassembly.c: the bunches of one channel (endpoint.md 17 to 19) */
/* What becomes of a bunch and its packet. */
struct ue_bunch_outcome {
    bool is_refused; /* the packet counts as not delivered */
    bool is_over;    /* nothing more of the packet is handled */
};
#define UE_BUNCH_ACCEPTED ((struct ue_bunch_outcome){false, false})
#define UE_BUNCH_REFUSED ((struct ue_bunch_outcome){true, false})
/* ReceivedRawBunch, for a bunch of a channel that exists. */
struct ue_bunch_outcome ue_receive_raw_bunch(struct ue_receiver *r, uint64_t now_ns, struct ue_channel_entry *entry,
                                             const struct ue_bunch *bunch, int64_t ch_seq);
/* Delivers what is in order and found no memory when it was due. */
void ue_deliver_waiting(struct ue_receiver *r, uint64_t now_ns);

#endif
