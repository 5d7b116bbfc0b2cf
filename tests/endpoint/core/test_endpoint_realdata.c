/* SPDX-License-Identifier: MIT */
/* Recordings of another implementation: the endpoint takes one side of a capture in captures/recordings as a reference
   model, receives what arrived there, is shown what that side sent, and must deliver and learn the same. dpull/utcp
   made the captures; the rows below describe where it differs from the engine. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>
#include <jansson.h>

#include "tools/replay/reference_model.h"
#include "tools/capture/packet_headers.h"

#define DATAGRAMS_MAX 2000
#define BUNCHES_MAX 2000
#define ITEMS_MAX 200
#define SERVER_PORT 7777
#define BEGIN_NS UINT64_C(1000000000) /* start of the capture on the endpoint's clock */

enum { CLIENT, SERVER };

/* ---- captures and expected differences ---- */

enum difference_kind { BUNCH_MISSING, ACK_ADDED };

struct known_difference {
    unsigned role; /* role of the endpoint */
    enum difference_kind kind;
    unsigned number; /* of the bunch, from 0; or the sequence of the packet */
    const char *why;
};

#define PEER_OPENS_TOO                                                                                                 \
    {CLIENT, BUNCH_MISSING, 0,                                                                                         \
     "the library's server marks its first control bunch as an open; the client had opened that channel itself"}
#define STOPPED(role, packet) {role, ACK_ADDED, packet, "the recording ended before the datagram with this ack arrived"}

struct captured_session {
    const char *name;
    const char *release;
    struct ue_settings settings;
    size_t bunches[2]; /* delivered to the client and to the server */
    size_t acks[2];    /* for the packets of the client and of the server */
    size_t lost[2];    /* of these, not delivered */
    struct known_difference differences[6];
    bool client_moves; /* the client changes its address; at first the server drops packets from the new one */
};

static const struct captured_session rows[] = {
    {"utcp-clean", "5.1", {0}, {752, 274}, {249, 323}, {0, 0}, {PEER_OPENS_TOO}, false},
    {"utcp-loss", "5.1", {0}, {937, 334}, {343, 437}, {40, 44}, {PEER_OPENS_TOO}, false},
    {"utcp-orig-clean", "4.25", {0}, {752, 274}, {249, 324}, {0, 0}, {PEER_OPENS_TOO}, false},
    {"utcp-orig-restart", "4.25", {0}, {143, 62}, {114, 134}, {1, 0}, {PEER_OPENS_TOO}, true},
    {"utcp-ue418-clean",
     "4.18",
     {.max_packet_bytes = 512, .ch_seq_bound = 4096},
     {752, 274},
     {483, 497},
     {0, 0},
     {PEER_OPENS_TOO},
     false},
    {"utcp-ue418-loss",
     "4.18",
     {.max_packet_bytes = 512, .ch_seq_bound = 4096},
     {937, 335},
     {644, 685},
     {61, 75},
     {PEER_OPENS_TOO, STOPPED(CLIENT, 2769), STOPPED(CLIENT, 2770), STOPPED(SERVER, 8760), STOPPED(SERVER, 8761)},
     false},
};

/* ---- the capture ---- */

struct captured_datagram {
    uint8_t *bytes;
    size_t size_bytes;
    unsigned side; /* that sent the datagram */
    uint64_t sent_ns;
    uint64_t arrives_ns;
    uint64_t at_ns; /* when the endpoint sends or receives it: one of the two */
    bool is_lost;
    bool is_packet; /* not a handshake message */
    uint16_t seq;
};

struct delivered_bunch {
    uint32_t channel;
    bool reliable;
    uint32_t ch_seq; /* as on the wire */
    size_t bits;
    uint8_t *data;
};

/* The bunches that a side delivers, and the acks of its packets. */
struct delivery_record {
    struct delivered_bunch bunches[BUNCHES_MAX];
    size_t bunch_count;
    int8_t acks[DATAGRAMS_MAX]; /* by packet, from the first on: 1 delivered, 0 lost, -1 not reported */
};

struct replayed_capture {
    const struct captured_session *row;
    json_t *sent; /* NAME.sent.json, or NULL: nothing was lost */
    struct captured_datagram datagrams[DATAGRAMS_MAX];
    size_t count;
    int64_t begin_ns;
    bool has_first[2];
    uint16_t first_seq[2];
    struct ue_prefix prefix;
    struct ue_context x[2]; /* of each side as the sender */
};

static struct replayed_capture capture;
static struct delivery_record expected;
static struct delivery_record actual;

static void format_path(char *path, size_t size_bytes, const char *name, const char *suffix) {
    snprintf(path, size_bytes, "captures/recordings/%s%s", name, suffix);
}

static const struct ue_datagram *decode(unsigned side, const uint8_t *bytes, size_t size_bytes) {
    static struct ue_item items[ITEMS_MAX];
    static struct ue_datagram datagram;
    struct ue_decode_result result;
    datagram = (struct ue_datagram){.items = items, .item_capacity = ITEMS_MAX};
    ue_datagram_decode(&capture.x[side], bytes, size_bytes, &datagram, NULL, &result);
    return &datagram;
}

static void add_datagram(const struct capture_udp *udp, int64_t time_ns) {
    assert_true(capture.count < DATAGRAMS_MAX);
    capture.begin_ns = capture.count == 0 ? time_ns : capture.begin_ns;
    struct captured_datagram *d = &capture.datagrams[capture.count++];
    *d = (struct captured_datagram){.bytes = malloc(udp->length_bytes), .size_bytes = udp->length_bytes};
    memcpy(d->bytes, udp->payload, udp->length_bytes);
    d->side = udp->source.port == SERVER_PORT ? SERVER : CLIENT;
    d->sent_ns = d->arrives_ns = BEGIN_NS + (uint64_t)(time_ns - capture.begin_ns);
    const struct ue_datagram *decoded = decode(d->side, d->bytes, d->size_bytes);
    d->is_packet = !decoded->prefix.is_handshake;
    d->seq = decoded->packet.seq;
    if (d->is_packet && !capture.has_first[d->side]) {
        capture.has_first[d->side] = true;
        capture.first_seq[d->side] = d->seq;
        capture.prefix = decoded->prefix;
    }
}

static void read_datagrams(const char *path) {
    char error[CAPTURE_ERROR_BYTES];
    struct capture_packet packet;
    struct capture_udp udp;
    struct capture *file = capture_open_file(path, error);
    struct ip_fragments *fragments = ip_fragments_new();
    assert_non_null(file);
    while (capture_next(file, &packet) == CAPTURE_PACKET) {
        assert_int_equal(capture_packet_find_udp(fragments, &packet, &udp), CAPTURE_HEADERS_UDP);
        add_datagram(&udp, packet.time_ns);
    }
    ip_fragments_free(fragments);
    capture_close(file);
}

/* Sets which datagrams were lost and when the others arrived. The library waits for late packets without limit (engines
   before 4.24 drop them), so no packet counts as late here. */
static void apply_link(void) {
    uint64_t in_order_ns[2] = {0, 0};
    size_t i;
    json_t *entry;
    json_array_foreach(json_object_get(capture.sent, "datagrams"), i, entry) {
        struct captured_datagram *d = &capture.datagrams[i];
        const json_t *arrives = json_array_get(json_object_get(entry, "deliver_us"), 0);
        d->is_lost = json_is_true(json_object_get(entry, "dropped"));
        d->arrives_ns = d->is_lost ? 0 : BEGIN_NS + (uint64_t)json_integer_value(arrives) * 1000;
        in_order_ns[d->side] = d->arrives_ns > in_order_ns[d->side] ? d->arrives_ns : in_order_ns[d->side];
        d->arrives_ns = in_order_ns[d->side];
    }
}

static void read_capture(const struct captured_session *row) {
    char path[4096];
    memset(&capture, 0, sizeof capture);
    capture.row = row;
    for (unsigned side = 0; side < 2; side++) {
        ue_context_init(&capture.x[side], ue_profile_find(row->release), &row->settings);
        capture.x[side].direction = side == CLIENT ? UE_CLIENT_TO_SERVER : UE_SERVER_TO_CLIENT;
        capture.x[side].features = false; /* the library's handshake has no such field */
    }
    format_path(path, sizeof path, row->name, ".pcap");
    read_datagrams(path);
    format_path(path, sizeof path, row->name, ".sent.json");
    capture.sent = json_load_file(path, 0, NULL);
    apply_link();
}

static void free_record(struct delivery_record *record) {
    for (size_t i = 0; i < record->bunch_count; i++) {
        free(record->bunches[i].data);
    }
    memset(record, 0, sizeof *record);
}

static void free_capture(void) {
    for (size_t i = 0; i < capture.count; i++) {
        free(capture.datagrams[i].bytes);
    }
    json_decref(capture.sent);
}

static struct delivered_bunch *add_bunch(struct delivery_record *record, uint32_t channel, bool reliable,
                                         uint32_t ch_seq, size_t bits) {
    assert_true(record->bunch_count < BUNCHES_MAX);
    struct delivered_bunch *bunch = &record->bunches[record->bunch_count++];
    *bunch =
        (struct delivered_bunch){channel, reliable, reliable ? ch_seq : 0, bits, calloc(1, ue_bits_bytes(bits) + 1)};
    return bunch;
}

/* ---- expected record, from the capture ---- */

static int64_t integer(const json_t *object, const char *key) {
    return json_integer_value(json_object_get(object, key));
}

static void add_received_bunches(unsigned role) {
    size_t i;
    json_t *entry;
    json_array_foreach(json_object_get(capture.sent, "received"), i, entry) {
        const char *hex = json_string_value(json_object_get(entry, "data"));
        const char *to = json_string_value(json_object_get(entry, "dir"));
        if ((to[0] == 'C') != (role == SERVER)) {
            continue;
        }
        const json_t *ch_seq = json_array_get(json_object_get(entry, "ch_sequence"), 0);
        struct delivered_bunch *bunch = add_bunch(
            &expected, (uint32_t)integer(entry, "ch"), integer(entry, "reliable") != 0,
            (uint32_t)json_integer_value(ch_seq) & (capture.x[0].ch_seq_bound - 1), (size_t)integer(entry, "bits"));
        for (size_t k = 0; hex[2 * k] != '\0'; k++) {
            unsigned byte = 0;
            sscanf(hex + 2 * k, "%2x", &byte);
            bunch->data[k] = (uint8_t)byte;
        }
    }
}

/* The library's 4.18 branch reports a packet again when an ack is repeated: the first report counts. */
static void add_delivery_notifications(unsigned role) {
    size_t i;
    json_t *entry;
    json_array_foreach(json_object_get(capture.sent, "delivery_notifications"), i, entry) {
        const char *side = json_string_value(json_object_get(entry, "side"));
        int64_t index = integer(entry, "packet_id") - capture.first_seq[role];
        if ((side[0] == 's') == (role == SERVER) && index >= 0 && expected.acks[index] < 0) {
            expected.acks[index] = json_is_true(json_object_get(entry, "ack"));
        }
    }
}

/* Marks every packet up to this one as delivered. */
static void add_acks_up_to(unsigned role, uint16_t seq) {
    int64_t index = (int64_t)((seq - capture.first_seq[role] + 16384) & 16383);
    for (; index >= 0 && index < DATAGRAMS_MAX && expected.acks[index] < 0; index--) {
        expected.acks[index] = 1;
    }
}

/* Without loss: all bunches of the peer arrive, and all packets that it acknowledges had arrived. */
static void add_all_of_peer(unsigned role) {
    for (size_t i = 0; i < capture.count; i++) {
        const struct captured_datagram *d = &capture.datagrams[i];
        if (d->side == role || !d->is_packet) {
            continue;
        }
        const struct ue_datagram *decoded = decode(d->side, d->bytes, d->size_bytes);
        if (decoded->packet.history_words != 0) {
            add_acks_up_to(role, decoded->packet.ack);
        }
        for (size_t k = 0; k < decoded->item_count; k++) {
            const struct ue_bunch *b = &decoded->items[k].bunch;
            if (decoded->items[k].is_ack) {
                add_acks_up_to(role, decoded->items[k].ack.ack_id);
            } else {
                ue_view_copy(b->data, add_bunch(&expected, b->channel, b->reliable, b->ch_seq, b->data.bits)->data);
            }
        }
    }
}

/* ---- actual record, from the endpoint ---- */

static void read_events(struct ue_conn *c, unsigned role) {
    struct ue_event e;
    while (ue_conn_next_event(c, &e)) {
        if (e.type == UE_EVENT_FAULT) {
            assert_int_equal(e.reason, UE_CLOSE_ALREADY_OPEN); /* see PEER_OPENS_TOO */
        }
        if (e.type == UE_EVENT_PACKET) {
            int64_t index = e.packet_id - capture.first_seq[role];
            assert_true(index >= 0 && index < DATAGRAMS_MAX && actual.acks[index] < 0);
            actual.acks[index] = e.delivered;
        } else if (e.type == UE_EVENT_BUNCH) {
            uint32_t ch_seq = (uint32_t)e.ch_seq & (capture.x[0].ch_seq_bound - 1);
            ue_view_copy(e.data, add_bunch(&actual, e.channel, e.reliable, ch_seq, e.data.bits)->data);
        }
    }
}

static void on_difference(void *user, const struct reference_model_difference *difference) {
    bool is_known = difference->type == REFERENCE_MODEL_DIFFERS_OPEN || /* see PEER_OPENS_TOO */
                    (difference->type == REFERENCE_MODEL_DIFFERS_HISTORY && capture.row->client_moves);
    if (!is_known) {
        fail_msg("the library %s", reference_model_difference_text(difference->type));
    }
}

static bool on_nak(void *user, int64_t nacked_id) {
    return false; /* the endpoint has the same acks as the library */
}

/* Datagrams of the same time keep the order of the capture. */
static int by_time(const void *a, const void *b) {
    const struct captured_datagram *x = *(const struct captured_datagram *const *)a;
    const struct captured_datagram *y = *(const struct captured_datagram *const *)b;
    return x->at_ns != y->at_ns ? (x->at_ns < y->at_ns ? -1 : 1) : (x < y ? -1 : 1);
}

static struct reference_model *new_model(unsigned role) {
    const struct ue_conn_config config = {
        .profile = ue_profile_find(capture.row->release),
        .settings = capture.row->settings,
        .role = role == CLIENT ? UE_ROLE_CLIENT : UE_ROLE_SERVER,
        .report_packets = true,
        .no_timeouts = true,
    };
    const struct reference_model_start start = {
        .context = &capture.x[!role],
        .prefix = capture.prefix,
        .in = capture.first_seq[!role],
        .out = capture.first_seq[role],
        .opens_freely = role == SERVER, /* the library's client opens an actor channel */
        .is_whole = true,
    };
    struct reference_model *m = reference_model_new(&config, &start);
    assert_non_null(m);
    return m;
}

static bool knows_all(void *user) {
    return false;
}

static enum reference_model_number no_number(void *user, const struct ue_bunch *bunch, uint32_t ch_seq) {
    return REFERENCE_MODEL_NUMBER_UNKNOWN;
}

static void replay(struct reference_model *m, unsigned role) {
    const struct reference_model_sink sink = {on_difference, on_nak, knows_all, no_number, NULL};
    const struct captured_datagram **order = malloc(capture.count * sizeof *order);
    for (size_t i = 0; i < capture.count; i++) {
        struct captured_datagram *d = &capture.datagrams[i];
        d->at_ns = d->side == role ? d->sent_ns : d->arrives_ns;
        order[i] = d;
    }
    qsort(order, capture.count, sizeof *order, by_time);
    for (size_t i = 0; i < capture.count; i++) {
        const struct captured_datagram *d = order[i];
        if (d->is_packet && d->side == role) {
            reference_model_compare_sent(m, d->at_ns, decode(d->side, d->bytes, d->size_bytes), &sink);
        } else if (d->is_packet && !d->is_lost) {
            reference_model_receive(m, d->at_ns, d->bytes, d->size_bytes);
        }
        read_events(reference_model_conn(m), role);
    }
    free(order);
}

/* ---- comparison ---- */

static bool same_bunch(const struct delivered_bunch *a, const struct delivered_bunch *b) {
    return a->channel == b->channel && a->reliable == b->reliable && a->ch_seq == b->ch_seq && a->bits == b->bits &&
           memcmp(a->data, b->data, ue_bits_bytes(a->bits)) == 0;
}

static bool is_explained(unsigned role, enum difference_kind kind, size_t number) {
    for (const struct known_difference *d = capture.row->differences; d->why != NULL; d++) {
        if (d->role == role && d->kind == kind && d->number == number) {
            printf("  %s\n", d->why);
            return true;
        }
    }
    return false;
}

/* Compares bunch by bunch; returns the number of expected differences. */
static size_t compare_bunches(unsigned role) {
    size_t explained = 0;
    size_t index = 0;
    for (size_t i = 0; i < expected.bunch_count; i++) {
        const struct delivered_bunch *b = &expected.bunches[i];
        if (index < actual.bunch_count && same_bunch(b, &actual.bunches[index])) {
            index++;
        } else if (is_explained(role, BUNCH_MISSING, (unsigned)i)) {
            explained++;
        } else {
            fail_msg("bunch %zu is missing: channel %u %c%u, %zu bits", i, b->channel, b->reliable ? 'R' : 'U',
                     b->ch_seq, b->bits);
        }
    }
    assert_int_equal(index, actual.bunch_count); /* no further bunch was delivered */
    return explained;
}

static size_t compare_acks(unsigned role) {
    size_t explained = 0;
    for (size_t index = 0; index < DATAGRAMS_MAX; index++) {
        if (expected.acks[index] == actual.acks[index]) {
            continue;
        }
        unsigned seq = (unsigned)index + capture.first_seq[role];
        if (expected.acks[index] >= 0 || !is_explained(role, ACK_ADDED, seq)) {
            fail_msg("packet %u: ack %d, expected %d", seq, actual.acks[index], expected.acks[index]);
        }
        explained++;
    }
    return explained;
}

static void count_acks(size_t *acks, size_t *lost) {
    for (size_t index = 0; index < DATAGRAMS_MAX; index++) {
        *acks += actual.acks[index] >= 0;
        *lost += actual.acks[index] == 0;
    }
}

static size_t differences_of(unsigned role) {
    size_t count = 0;
    for (const struct known_difference *d = capture.row->differences; d->why != NULL; d++) {
        count += d->role == role;
    }
    return count;
}

static void assert_equal_records(unsigned role) {
    size_t acks = 0;
    size_t lost = 0;
    size_t explained = compare_bunches(role) + compare_acks(role);
    assert_int_equal(explained, differences_of(role));
    count_acks(&acks, &lost);
    printf("%s as %s: %zu bunches, %zu acks, %zu packets lost\n", capture.row->name,
           role == CLIENT ? "client" : "server", actual.bunch_count, acks, lost);
    assert_int_equal(actual.bunch_count, capture.row->bunches[role]);
    assert_int_equal(acks, capture.row->acks[role]);
    assert_int_equal(lost, capture.row->lost[role]);
}

static void assert_role(unsigned role) {
    struct reference_model *m = new_model(role);
    memset(expected.acks, -1, sizeof expected.acks);
    memset(actual.acks, -1, sizeof actual.acks);
    if (capture.sent != NULL) {
        add_received_bunches(role);
        add_delivery_notifications(role);
    } else {
        add_all_of_peer(role);
    }
    replay(m, role);
    assert_equal_records(role);
    free_record(&expected);
    free_record(&actual);
    reference_model_free(m);
}

static void recordings_are_followed_in_both_roles(void **state) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        read_capture(&rows[i]);
        assert_role(CLIENT);
        assert_role(SERVER);
        free_capture();
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(recordings_are_followed_in_both_roles)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
