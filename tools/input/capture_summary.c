/* SPDX-License-Identifier: MIT */
#include "tools/input/capture_summary.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tools/cli/command_line.h"
#include "tools/input/capture_reader.h"
#include "tools/observe/observed_address.h"

/* ---- connections ---- */

static const struct input_connection *texts_of(const struct ue_observed_connection *connection) {
    return ue_observer_user(connection);
}

/* Where no space is left, an ellipsis stands for all that follow. */
static void add_former(struct capture_summary_connection *listing, const char *address) {
    static const char ellipsis[] = "...";
    size_t length = strlen(listing->former);
    bool fits = length + CAPTURE_ADDRESS_TEXT_BYTES + sizeof ellipsis < sizeof listing->former;
    const char *text = fits ? address : ellipsis;
    g_auto(GStrv) former = g_strsplit(listing->former, ", ", -1);
    if (!g_strv_contains((const char *const *)former, text) &&
        !g_strv_contains((const char *const *)former, ellipsis)) {
        snprintf(listing->former + length, sizeof listing->former - length, "%s%s", length != 0 ? ", " : "", text);
    }
}

/* Adds the addresses of the earlier connection that the later one does not have. */
static void move(struct ue_observer *observer, struct capture_summary_connection *listing,
                 const struct ue_observed_connection *later) {
    const struct ue_observed_connection *earlier = listing->latest;
    for (size_t i = 0; i < 2; i++) {
        if (!observe_address_equal(&earlier->sides[i], &later->sides[0]) &&
            !observe_address_equal(&earlier->sides[i], &later->sides[1])) {
            add_former(listing, texts_of(earlier)->addresses[i]);
        }
    }
    ue_observer_reference(later);
    ue_observer_release(observer, earlier);
    listing->latest = later;
}

static struct capture_summary_connection *find_listing(struct capture_summary *summary,
                                                       const struct ue_observed_connection *connection) {
    for (size_t i = 0; i < summary->listed; i++) {
        if (summary->listings[i].latest->stream == connection->stream) {
            return &summary->listings[i];
        }
    }
    if (summary->listed == CAPTURE_SUMMARY_LISTED_MAX) {
        return NULL;
    }
    ue_observer_reference(connection);
    struct capture_summary_connection *listing = &summary->listings[summary->listed++];
    *listing = (struct capture_summary_connection){.latest = connection};
    return listing;
}

/* ---- contradictions ---- */

static void add_contradiction(struct capture_summary *summary, const struct ue_observed_connection *connection) {
    if (summary->contradictions == NULL) {
        summary->contradictions = g_hash_table_new(NULL, NULL);
    }
    if (g_hash_table_add(summary->contradictions, GUINT_TO_POINTER(connection->stream)) &&
        summary->contradicted_count < CAPTURE_SUMMARY_LISTED_MAX) {
        ue_observer_reference(connection);
        summary->contradicted[summary->contradicted_count++] = connection;
    }
}

static void remove_contradiction(struct capture_summary *summary, struct ue_observer *observer, uint32_t stream) {
    size_t kept = 0;
    if (summary->contradictions == NULL || !g_hash_table_remove(summary->contradictions, GUINT_TO_POINTER(stream))) {
        return;
    }
    for (size_t i = 0; i < summary->contradicted_count; i++) {
        const struct ue_observed_connection *each = summary->contradicted[i];
        summary->contradicted[kept] = each;
        if (each->stream == stream) {
            ue_observer_release(observer, each);
        } else {
            kept++;
        }
    }
    summary->contradicted_count = kept;
}

/* Of several connections of a stream, the first counts. */
static void count_contradiction(struct capture_summary *summary, const struct input_datagram *captured) {
    const struct ue_observed_connection *connection = captured->connection;
    if (ue_detection_contradicts(&connection->detection, NULL)) {
        add_contradiction(summary, connection);
    } else if (ue_detection_withdrew_contradiction(&connection->detection)) {
        remove_contradiction(summary, captured->observer, connection->stream);
    }
}

static size_t contradictions_of(const struct capture_summary *summary) {
    return summary->contradictions != NULL ? g_hash_table_size(summary->contradictions) : 0;
}

struct capture_summary_connection *capture_summary_on_datagram(struct capture_summary *summary,
                                                               const struct input_datagram *captured) {
    const struct ue_observed_connection *connection = captured->connection;
    struct capture_summary_connection *listing = find_listing(summary, connection);
    count_contradiction(summary, captured);
    if (listing == NULL) {
        return NULL;
    }
    if (connection != listing->latest && connection->first_frame > listing->latest->first_frame) {
        move(captured->observer, listing, connection);
    }
    listing->datagrams++;
    return listing;
}

void capture_summary_clear(struct capture_summary *summary, struct ue_observer *observer) {
    while (summary->listed != 0) {
        ue_observer_release(observer, summary->listings[--summary->listed].latest);
    }
    while (summary->contradicted_count != 0) {
        ue_observer_release(observer, summary->contradicted[--summary->contradicted_count]);
    }
    g_clear_pointer(&summary->contradictions, g_hash_table_unref);
}

/* ---- the summary ---- */

static const char *plural(uint64_t count) {
    return count == 1 ? "" : "s";
}

void capture_summary_format_bounds(const struct ue_detection_result *result, char text[CAPTURE_SUMMARY_BOUNDS_BYTES]) {
    const struct ue_detection_bounds bounds = ue_detection_bounds(result);
    int length = 0;
    text[0] = '\0';
    if (bounds.max_packet_bytes != 0) {
        length = snprintf(text, CAPTURE_SUMMARY_BOUNDS_BYTES, "; max_packet=%" PRIu32, bounds.max_packet_bytes);
    }
    if (bounds.ch_seq_bound != 0) {
        snprintf(text + length, CAPTURE_SUMMARY_BOUNDS_BYTES - (size_t)length, "%s ch_seq_bound=%" PRIu32,
                 length != 0 ? "" : ";", bounds.ch_seq_bound);
    }
}

/* Prints the values for --magic-bits and --magic. */
static void print_magic(const struct ue_observed_connection *connection) {
    unsigned bits;
    uint32_t value;
    if (ue_detection_find_magic(&connection->detection, &bits, &value)) {
        fprintf(stderr, "stream %" PRIu32 ": " UE_MAGIC_FORMAT ": --magic-bits %u --magic 0x%x\n", connection->stream,
                bits, plural(bits), value, bits, value);
    }
}

/* Names the options that the first datagrams contradict, and what is detected without them. */
static void print_contradiction(const char *capture, const struct ue_observed_connection *connection) {
    const struct ue_detection *detection = &connection->detection;
    struct ue_detection_contradiction contradiction;
    char given[UE_DETECTION_SETTINGS_CHARS], other[UE_DETECTION_SETTINGS_CHARS];
    if (!ue_detection_contradicts(detection, &contradiction)) {
        return;
    }
    struct ue_detection_contradicted_options which = ue_detection_contradicted_options(detection);
    const char *options = which.generation && which.handlers ? "--generation and --handlers"
                          : which.generation                 ? "--generation"
                                                             : "--handlers";
    bool has_other = ue_detection_other_text(detection, other) != NULL;
    g_autofree char *instead =
        has_other ? g_strdup_printf("; without %s, %s is detected", options, other) : g_strdup("");
    cli_print_line(stderr,
                   "%sstream %" PRIu32 ": %u of the first %u datagrams from frame %" PRIu64
                   " on %s not match %s (%s), so that no packet of that connection is decoded%s",
                   capture, connection->stream, contradiction.missed, contradiction.datagrams, connection->first_frame,
                   contradiction.missed == 1 ? "does" : "do", ue_detection_given_text(detection, given), options,
                   instead);
}

void capture_summary_print_contradictions(struct capture_summary *summary) {
    size_t further = contradictions_of(summary) - summary->contradicted_count;
    g_autofree char *capture = summary->capture != NULL ? g_strdup_printf("%s: ", summary->capture) : g_strdup("");
    progress_line_erase(&summary->progress);
    for (size_t i = 0; i < summary->contradicted_count; i++) {
        print_contradiction(capture, summary->contradicted[i]);
    }
    if (further != 0) {
        cli_print_line(stderr, "%sthe first datagrams of %zu further stream%s do not match what is given, either",
                       capture, further, plural(further));
    }
}

bool capture_summary_is_contradicted(const struct capture_summary *summary) {
    return contradictions_of(summary) != 0;
}

/* Prints the value for --handlers, and whether the key is wrong. */
static void print_handlers(const struct ue_observed_connection *connection) {
    const struct ue_detection *detection = &connection->detection;
    enum ue_handler chain[UE_HANDLERS_MAX];
    if (ue_detection_find_handlers(detection, chain)) {
        char text[UE_HANDLERS_CHARS];
        fprintf(stderr, "stream %" PRIu32 ": looks like --handlers %s\n", connection->stream,
                ue_handlers_text(chain, text));
    }
    if (detection->result.is_undecoded && !ue_detection_contradicts(detection, NULL)) {
        fprintf(stderr,
                "stream %" PRIu32
                ": most of the first packets match neither a generation nor known handlers, so that none "
                "is decoded\n",
                connection->stream);
    }
    if (detection->decrypted == 0 && detection->encrypted > connection->datagrams / 2) {
        fprintf(stderr, "stream %" PRIu32 ": the key opens none of %" PRIu64 " encrypted packet%s\n",
                connection->stream, detection->encrypted, plural(detection->encrypted));
    }
}

static void print_generation(const struct ue_observed_connection *connection) {
    const struct ue_detection *detection = &connection->detection;
    const char *reason = ue_detection_reason_text((enum ue_detection_reason)detection->result.reason);
    char releases[UE_RANGE_CHARS];
    char bounds[CAPTURE_SUMMARY_BOUNDS_BYTES];
    const struct ue_decode_state now = {.result = detection->result};
    if (ue_detection_is_lone(&detection->result) && ue_detection_is_doubtful(detection, &now)) {
        fprintf(stderr, ", generation unknown (%s)\n", reason);
        return;
    }
    capture_summary_format_bounds(&detection->result, bounds);
    fprintf(stderr, ", generation %s (%s%s)\n", ue_detection_generations(detection, &detection->result, releases),
            reason, bounds);
}

static void print_engine(const struct capture_summary *summary, const struct capture_summary_connection *listing) {
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

static void print_connection(const struct capture_summary *summary, const struct capture_summary_connection *listing) {
    const struct ue_observed_connection *connection = listing->latest;
    const struct ue_detection *detection = &connection->detection;
    int server = detection->server_side;
    unsigned from = server >= 0 ? !server : 0;
    fprintf(stderr, "stream %" PRIu32 ": %s%s%s %s %s, %" PRIu64 " datagram%s", connection->stream, listing->former,
            listing->former[0] != '\0' ? ", then " : "", texts_of(connection)->addresses[from],
            server >= 0 ? "to server" : "and", texts_of(connection)->addresses[!from], listing->datagrams,
            plural(listing->datagrams));
    print_generation(connection);
    print_engine(summary, listing);
}

/* What was left out. Frames of other protocols are expected, unless no connection was found. */
static void print_others(const struct capture_summary *summary, const struct datagram_source *input, uint64_t streams) {
    const struct {
        uint64_t count;
        const char *noun, *what;
    } others[] = {
        {summary->cut, "datagram", "cut by the snap length of the capture"},
        {summary->unknown, "datagram", "on a server port, but not recognised"},
        {summary->echoes, "datagram",
         "of a client that came back to it unchanged: something returns them, and is no server"},
        {streams == 0 ? input->others : 0, "frame", "without UDP over IP"},
        {input->tunnels, "frame", "of a tunnel (IP over IP, or GRE), whose content is not read"},
        {input->unreadable, "frame", "with cut or malformed link, IP or UDP headers"},
        {input->unknown_links, "frame", "of an unsupported link type"},
        {input->dropped, "frame", "dropped by the system while the program was busy"},
        {input->fragments != NULL ? ip_fragments_incomplete(input->fragments) : 0, "datagram",
         "with missing IP fragments"},
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (others[i].count != 0) {
            fprintf(stderr, "%" PRIu64 " %s%s %s\n", others[i].count, others[i].noun, plural(others[i].count),
                    others[i].what);
        }
    }
}

static void print_connections(const struct capture_summary *summary, const struct ue_observer *observer) {
    for (size_t i = 0; i < summary->listed; i++) {
        print_connection(summary, &summary->listings[i]);
    }
    if (ue_observer_stream_count(observer) > summary->listed) {
        fprintf(stderr, "and %" PRIu64 " more\n", ue_observer_stream_count(observer) - summary->listed);
    }
    if (ue_observer_forgotten_count(observer) != 0) {
        fprintf(stderr, "connections dropped from memory, each after %u others had been used since: %" PRIu64 "\n",
                UE_OBSERVER_CONNECTIONS_MAX, ue_observer_forgotten_count(observer));
    }
}

void capture_summary_print_totals(struct capture_summary *summary, const struct datagram_source *input,
                                  const struct ue_observer *observer) {
    uint64_t streams = ue_observer_stream_count(observer);
    capture_summary_print_contradictions(summary);
    for (size_t i = 0; i < summary->listed; i++) {
        print_magic(summary->listings[i].latest);
        print_handlers(summary->listings[i].latest);
    }
    print_others(summary, input, streams);
    if (streams == 0 && input->datagrams != 0) {
        fprintf(stderr,
                "%" PRIu64 " UDP datagram%s without a handshake of this protocol; give the server's port with --port\n",
                input->datagrams, plural(input->datagrams));
    }
    if (summary->compared != 0 && summary->selected == 0) {
        fputs("none of the datagrams that were read is selected\n", stderr);
    }
    fprintf(stderr, "%" PRIu64 " datagram%s in %" PRIu64 " connection%s, %" PRIu64 " malformed\n", summary->decoded,
            plural(summary->decoded), streams, plural(streams), summary->malformed);
}

void capture_summary_print(struct capture_summary *summary, const struct datagram_source *input,
                           const struct ue_observer *observer) {
    progress_line_erase(&summary->progress);
    print_connections(summary, observer);
    capture_summary_print_totals(summary, input, observer);
}
