/* SPDX-License-Identifier: MIT */
#include "tools/live/capture_file.h"

#include <errno.h>
#include <string.h>

#include "tools/capture/pcapng_writer.h"
#include "tools/cli/command_line.h"
#include "uerudp_version.h"

struct ue_record_file {
    struct ue_pcapng_writer writer;
    char *path;
    struct ue_net_address peer; /* the last one, and from where datagrams go there */
    struct ue_net_address local;
};

struct ue_record_file *ue_record_open(const char *path, const char *name) {
    FILE *file = fopen(path, "wb");
    if (file == NULL) {
        ue_complain("%s: %s", path, g_strerror(errno));
        return NULL;
    }
    struct ue_record_file *record = g_new0(struct ue_record_file, 1);
    record->path = g_strdup(path);
    ue_pcapng_begin(&record->writer, file, "uerudp " UERUDP_VERSION);
    ue_pcapng_interface(&record->writer, UE_LINK_ETHERNET, name);
    return record;
}

uint32_t ue_record_interface(struct ue_record_file *record, const char *name) {
    return ue_pcapng_interface(&record->writer, UE_LINK_ETHERNET, name);
}

static struct ue_address captured(const struct ue_net_address *address) {
    struct ue_address result = {.port = address->port, .family = address->is_ipv6 ? UE_IPV6 : UE_IPV4};
    memcpy(result.bytes, address->bytes, sizeof result.bytes);
    return result;
}

void ue_record_write(struct ue_record_file *record, uint32_t interface, int64_t time_ns,
                     const struct ue_net_address *from, const struct ue_net_address *to, const uint8_t *bytes,
                     size_t size_bytes, const char *comment) {
    struct ue_address source = captured(from);
    struct ue_address destination = captured(to);
    ue_pcapng_udp(&record->writer, interface, time_ns, &source, &destination, bytes, size_bytes, comment);
}

/* The route to a peer costs calls of the system, and most datagrams go where the one before went. */
static const struct ue_net_address *local_address(struct ue_record_file *record, const struct ue_socket *socket,
                                                  const struct ue_net_address *peer) {
    if (!ue_net_address_equal(&record->peer, peer)) {
        record->peer = *peer;
        record->local = ue_socket_local_for(socket, peer);
    }
    return &record->local;
}

void ue_record_datagram(struct ue_record_file *record, const struct ue_socket *socket,
                        const struct ue_net_address *peer, bool is_sent, const uint8_t *bytes, size_t size_bytes) {
    const struct ue_net_address *here = local_address(record, socket, peer);
    ue_record_write(record, 0, g_get_real_time() * 1000, is_sent ? here : peer, is_sent ? peer : here, bytes,
                    size_bytes, NULL);
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
