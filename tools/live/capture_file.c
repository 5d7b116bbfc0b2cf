/* SPDX-License-Identifier: MIT */
#include "tools/live/capture_file.h"

#include <errno.h>
#include <string.h>

#include <uerudp/version.h>

#include "tools/capture/pcapng_writer.h"
#include "tools/cli/command_line.h"
#include "tools/cli/output_file.h"

struct live_capture {
    struct pcapng_writer writer;
    char *path;
    struct net_address peer; /* the last peer, and the local address that datagrams to it have */
    struct net_address local;
};

struct live_capture *live_capture_open(const char *path, const char *name) {
    if (!output_file_is_allowed(path)) {
        return NULL;
    }
    FILE *capture = fopen(path, "wb");
    if (capture == NULL) {
        cli_error("%s: %s", path, g_strerror(errno));
        return NULL;
    }
    struct live_capture *record = g_new0(struct live_capture, 1);
    record->path = g_strdup(path);
    pcapng_writer_begin(&record->writer, capture, "uerudp " UE_VERSION);
    pcapng_writer_add_interface(&record->writer, CAPTURE_LINK_ETHERNET, name);
    return record;
}

uint32_t live_capture_add_interface(struct live_capture *record, const char *name) {
    return pcapng_writer_add_interface(&record->writer, CAPTURE_LINK_ETHERNET, name);
}

static struct capture_address captured(const struct net_address *address) {
    struct capture_address result = {.port = address->port, .family = address->is_ipv6 ? CAPTURE_IPV6 : CAPTURE_IPV4};
    memcpy(result.bytes, address->bytes, sizeof result.bytes);
    return result;
}

void live_capture_write(struct live_capture *record, uint32_t interface, int64_t time_ns,
                        const struct net_address *from, const struct net_address *to, const uint8_t *bytes,
                        size_t size_bytes, const char *comment) {
    struct capture_address source = captured(from);
    struct capture_address destination = captured(to);
    pcapng_writer_add_datagram(&record->writer, interface, time_ns, &source, &destination, bytes, size_bytes, comment);
}

/* Finding the local address of a route costs system calls, and most datagrams go to the same peer as the one before. */
static const struct net_address *local_address(struct live_capture *record, const struct net_socket *socket,
                                               const struct net_address *peer) {
    if (!net_address_equal(&record->peer, peer)) {
        record->peer = *peer;
        record->local = net_socket_local_for(socket, peer);
    }
    return &record->local;
}

void live_capture_write_own_datagram(struct live_capture *record, const struct net_socket *socket,
                                     const struct net_address *peer, bool is_sent, const uint8_t *bytes,
                                     size_t size_bytes) {
    const struct net_address *here = local_address(record, socket, peer);
    live_capture_write(record, 0, g_get_real_time() * 1000, is_sent ? here : peer, is_sent ? peer : here, bytes,
                       size_bytes, NULL);
}

bool live_capture_close(struct live_capture *record) {
    if (record == NULL) {
        return true;
    }
    bool good = pcapng_writer_finish(&record->writer);
    good = fclose(record->writer.file) == 0 && good;
    if (!good) {
        cli_error("%s: cannot write", record->path);
    }
    g_free(record->path);
    g_free(record);
    return good;
}
