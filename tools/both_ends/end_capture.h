/* SPDX-License-Identifier: MIT */
/* The datagrams of each connection at one capture point, as what is needed to find them again at the other. */
#ifndef UERUDP_TOOLS_BOTH_ENDS_END_CAPTURE_H
#define UERUDP_TOOLS_BOTH_ENDS_END_CAPTURE_H

#include "tools/input/capture_reader.h"

/* One datagram. */
struct end_datagram {
    uint64_t hash; /* of its bytes */
    int64_t time_ns;
    uint64_t frame;
    int64_t packet_id; /* -1: a handshake message, or not known */
    uint32_t bytes;    /* of UDP payload, on the wire */
    bool is_selected;
};

/* That a packet was received, or was not, as its receiver reports in a packet of this capture. */
struct end_report {
    int64_t packet_id;
    bool is_delivered;
};

struct end_stream {
    uint32_t stream;      /* number in this capture */
    GArray *datagrams[2]; /* [role of the sender] struct end_datagram, in capture order */
    GArray *reports[2];   /* [role of the reported side] struct end_report */
};

struct end_capture {
    char *name;         /* of the file or the interface */
    GPtrArray *streams; /* struct end_stream, owned */
    bool has_packets;
    bool is_cut;               /* it has datagrams that its snap length cut */
    int64_t first_ns, last_ns; /* of all datagrams of the capture */
};

/* Which packets are of a capture point: those of these files, or of one interface of a file. */
struct end_source {
    char **paths;
    int path_count;
    bool has_interface;
    uint32_t interface_number;
};

/* Starts a reader of a capture point, with the options of another reader, which must outlive it. It prints nothing. */
void end_source_start(const struct end_source *source, struct capture_reader *reader,
                      const struct capture_reader *options);

/* Bytes of the start of a datagram that identify it where a capture has cut datagrams. */
#define END_HEAD_BYTES 32

/* Reads a capture point with the options of another reader. head_only: datagrams are identified by their first
   END_HEAD_BYTES and their length. Free with end_capture_free. */
struct end_capture *end_capture_read(const struct capture_reader *options, const struct selection *selection,
                                     const struct end_source *source, bool head_only);
void end_capture_free(struct end_capture *capture);

/* The hash of a datagram. */
uint64_t end_capture_hash(const uint8_t *bytes, size_t captured_bytes, size_t length_bytes, bool head_only);

#endif
