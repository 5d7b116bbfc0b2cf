/* SPDX-License-Identifier: MIT */
#include "tools/input/capture_summary.h"

#include <inttypes.h>
#include <stdio.h>

#include "tools/cli/command_line.h"

static const char *plural(uint64_t count) {
    return count == 1 ? "" : "s";
}

static void print_bounds(const struct observe_connection *connection) {
    struct ue_decode_state decode_state = {.result = connection->flow.result};
    struct ue_context context;
    ue_detection_context(&connection->flow, &decode_state, &context);
    if (connection->flow.result.variant != 0) {
        fprintf(stderr, "; max_packet %u, ch_seq_bound %u", context.data_bound / 8, context.ch_seq_bound);
    }
}

/* Prints the values for --magic-bits and --magic. */
static void print_magic(const struct observe_connection *connection) {
    unsigned bits;
    uint32_t value;
    if (ue_detection_find_magic(&connection->flow, &bits, &value)) {
        fprintf(stderr, "stream %" PRIu32 ": " UE_MAGIC_FORMAT "\n", connection->stream, bits, plural(bits), value,
                bits, value);
    }
}

static void print_generation(const struct observe_connection *connection) {
    const struct ue_detection *detection = &connection->flow;
    const char *reason = ue_detection_reason_text((enum ue_detection_reason)detection->result.reason);
    char releases[UE_RANGE_CHARS];
    if (detection->result.reason == UE_DETECTION_REASON_CLOSEST && !connection->has_handshake) {
        fprintf(stderr, ", generation unknown (%s)\n", reason);
        return;
    }
    fprintf(stderr, ", generation %s (%s", ue_detection_generations(detection, &detection->result, releases), reason);
    print_bounds(connection);
    fputs(")\n", stderr);
}

static void print_engine(const struct capture_summary *summary, const struct connection_listing *listing) {
    if (summary->project.name == NULL || !listing->has_network_version) {
        return;
    }
    uint32_t netver = ue_network_version_find(&summary->project, listing->network_version);
    fprintf(stderr, "  network version 0x%08x: ", listing->network_version);
    if (netver != 0) {
        fprintf(stderr, "EngineNetVer %u of project %s\n", netver, summary->project.name);
    } else {
        fprintf(stderr, "does not match any EngineNetVer up to %d of project %s\n", UE_NETWORK_VERSION_MAX,
                summary->project.name);
    }
}

static void print_connection(const struct capture_summary *summary, const struct connection_listing *listing) {
    const struct observe_connection *connection = listing->latest;
    const struct ue_detection *detection = &connection->flow;
    int server = detection->server_side;
    unsigned from = server >= 0 ? !server : 0;
    fprintf(stderr, "stream %" PRIu32 ": %s%s%s %s %s, %" PRIu64 " datagram%s", connection->stream, listing->former,
            listing->former[0] != '\0' ? ", then " : "", connection->texts[from], server >= 0 ? "to server" : "and",
            connection->texts[!from], listing->datagrams, plural(listing->datagrams));
    print_generation(connection);
    print_engine(summary, listing);
}

static void print_others(const struct capture_summary *summary, const struct datagram_source *input) {
    const struct {
        uint64_t count;
        const char *what;
    } others[] = {
        {summary->cut, "cut by the snap length of the capture"},
        {summary->unknown, "on a server port, but not recognised"},
        {input->unreadable, "with cut or malformed link, IP or UDP headers"},
        {input->unknown_links, "of an unsupported link type"},
        {input->dropped, "dropped by the system while the program was busy"},
        {input->fragments != NULL ? ip_fragments_incomplete(input->fragments) : 0, "with missing IP fragments"},
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (others[i].count != 0) {
            fprintf(stderr, "%" PRIu64 " %s\n", others[i].count, others[i].what);
        }
    }
}

static void print_connections(const struct capture_summary *summary, const struct connection_table *connections) {
    size_t count;
    const struct connection_listing *listings = connection_table_listings(connections, &count);
    uint64_t more = connection_table_stream_count(connections);
    for (size_t i = 0; i < count; i++) {
        if (listings[i].latest != NULL) {
            print_connection(summary, &listings[i]);
            more--;
        }
    }
    if (more != 0) {
        fprintf(stderr, "and %" PRIu64 " more\n", more);
    }
    if (connection_table_forgotten_count(connections) != 0) {
        fprintf(stderr, "%" PRIu64 " connections were dropped from memory, each after %d others had been used since\n",
                connection_table_forgotten_count(connections), CONNECTION_TABLE_CONNECTIONS_MAX);
    }
}

static void print_magics(const struct connection_table *connections) {
    size_t count;
    const struct connection_listing *listings = connection_table_listings(connections, &count);
    for (size_t i = 0; i < count; i++) {
        if (listings[i].latest != NULL) {
            print_magic(listings[i].latest);
        }
    }
}

void capture_summary_print_totals(struct capture_summary *summary, const struct datagram_source *input,
                                  const struct connection_table *connections) {
    uint64_t streams = connection_table_stream_count(connections);
    progress_line_erase(&summary->progress);
    print_magics(connections);
    print_others(summary, input);
    if (streams == 0 && input->datagrams != 0) {
        fprintf(stderr,
                "%" PRIu64 " UDP datagram%s without a handshake of this protocol; give the server's port with --port\n",
                input->datagrams, plural(input->datagrams));
    }
    fprintf(stderr, "%" PRIu64 " datagram%s in %" PRIu64 " connection%s, %" PRIu64 " malformed\n", summary->decoded,
            plural(summary->decoded), streams, plural(streams), summary->malformed);
}

void capture_summary_print(struct capture_summary *summary, const struct datagram_source *input,
                           const struct connection_table *connections) {
    progress_line_erase(&summary->progress);
    print_connections(summary, connections);
    capture_summary_print_totals(summary, input, connections);
}
