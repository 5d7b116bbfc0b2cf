/* SPDX-License-Identifier: MIT */
#include "tools/live/record.h"

#include <errno.h>
#include <string.h>

#include "tools/capture/pcapng_writer.h"
#include "tools/cli.h"
#include "uerudp_version.h"

#define LINK_ETHERNET 1

struct ue_record_file {
    struct ue_pcapng_writer writer;
    uint32_t interface;
    char *path;
    struct ue_net_address peer; /* the last one, and from where datagrams go there */
    struct ue_net_address local;
};

struct ue_record_file *ue_record_open(const char *path) {
    FILE *file = fopen(path, "wb");
    if (file == NULL) {
        ue_complain("%s: %s", path, g_strerror(errno));
        return NULL;
    }
    struct ue_record_file *record = g_new0(struct ue_record_file, 1);
    record->path = g_strdup(path);
    ue_pcapng_begin(&record->writer, file, "uerudp " UERUDP_VERSION);
    record->interface = ue_pcapng_interface(&record->writer, LINK_ETHERNET, NULL);
    return record;
}

static struct ue_address captured(const struct ue_net_address *address) {
    struct ue_address result = {.port = address->port, .family = address->is_ipv6 ? UE_IPV6 : UE_IPV4};
    memcpy(result.bytes, address->bytes, sizeof result.bytes);
    return result;
}

static bool is_any(const struct ue_net_address *address) {
    static const uint8_t zeros[sizeof address->bytes];
    return memcmp(address->bytes, zeros, sizeof zeros) == 0;
}

/* A socket bound to every address does not say to which one a datagram came; the route to its sender does. */
static const struct ue_net_address *local_address(struct ue_record_file *record, const struct ue_socket *socket,
                                                  const struct ue_net_address *peer) {
    const struct ue_net_address *bound = ue_socket_local(socket);
    if (!is_any(bound)) {
        return bound;
    }
    if (!ue_net_address_equal(&record->peer, peer)) {
        record->peer = *peer;
        if (!ue_socket_route(peer, &record->local)) {
            record->local = *bound;
        }
        record->local.port = bound->port;
        record->local.is_ipv6 = peer->is_ipv6;
    }
    return &record->local;
}

void ue_record_datagram(struct ue_record_file *record, const struct ue_socket *socket,
                        const struct ue_net_address *peer, bool is_sent, const uint8_t *bytes, size_t size_bytes) {
    struct ue_address here = captured(local_address(record, socket, peer));
    struct ue_address there = captured(peer);
    ue_pcapng_udp(&record->writer, record->interface, g_get_real_time() * 1000, is_sent ? &here : &there,
                  is_sent ? &there : &here, bytes, size_bytes, NULL);
}

bool ue_record_close(struct ue_record_file *record) {
    if (record == NULL) {
        return true;
    }
    bool good = ue_pcapng_end(&record->writer);
    good = fclose(record->writer.file) == 0 && good;
    if (!good) {
        ue_complain("%s: cannot write", record->path);
    }
    g_free(record->path);
    g_free(record);
    return good;
}
